// Refuses to start in production: the first check that fails, in one line.
import { type Check, isDecisive, type Stage, StartRefused, type Subject } from './check.ts';
import { CHECKS } from './checks.ts';

/**
 * Asks the checks of one stage in their order, and throws `StartRefused` with the first that fails. In development few count.
 * What a check itself cannot look at (a `DatabaseError`) it throws.
 */
export async function refuseToStart(
  subject: Subject,
  stage: Extract<Stage, 'start' | 'store'>,
): Promise<void> {
  await refuse(
    subject,
    CHECKS.filter((check) => check.stage === stage),
  );
}

/**
 * Asks what judges the part of a configuration that a running service takes over. Throws `StartRefused`: a start would refuse the
 * same.
 */
export async function refuseToReload(subject: Subject): Promise<void> {
  await refuse(
    subject,
    CHECKS.filter(({ atReload }) => atReload),
  );
}

async function refuse(subject: Subject, checks: readonly Check[]): Promise<void> {
  for (const check of checks) {
    if (!isDecisive(check, subject)) continue;
    const verdict = await check.look(subject);
    if (verdict.is === 'failed') throw new StartRefused(verdict);
  }
}
