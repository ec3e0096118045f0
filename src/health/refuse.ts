// What keeps a service in production from starting: the first check that fails, told in one line.
import type { Check, Installation, Stage, Subject, Verdict } from './check.ts';
import { CHECKS } from './checks.ts';
import { READ_PLACE_CHECKS } from './place-checks.ts';
import { READ_CHECKS } from './settings-checks.ts';

/** Production does not start like this. The message is one line: where, what is wrong, how to mend it. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}

/** Why no command takes a configuration for production as it is written, in one line; nothing where all do. */
export function readingRefusal(subject: Installation): string | undefined {
  for (const check of [...READ_CHECKS, ...READ_PLACE_CHECKS]) {
    if (!counts(check, subject)) continue;
    const verdict = check.look(subject);
    if (verdict.is === 'failed') return lineOf(verdict);
  }
  return undefined;
}

/**
 * Asks the checks of one stage in their order, and raises `StartRefused` with the first that fails. In development few count.
 * What a check itself cannot look at (a `DatabaseError`) it raises.
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
 * Asks what judges the part of a configuration that a running service takes over. Raises `StartRefused`: a start would refuse the
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
    if (!counts(check, subject)) continue;
    const verdict = await check.look(subject);
    if (verdict.is === 'failed') throw new StartRefused(lineOf(verdict));
  }
}

/** Whether a check's failure keeps this installation from starting. */
function counts({ always }: Check, { settings }: Installation): boolean {
  return always === true || settings.environment !== 'development';
}

/** A verdict in one line: `counterfoil.yaml:3: nodes is 2, and SQLite takes one: set nodes to 1`. */
export function lineOf({ where, says, mend }: Verdict): string {
  return [where, asPart(says), mend].filter((part) => part !== undefined).join(': ');
}

/** A sentence's beginning as the middle of a line has it; names with capitals within (`SQLite`) keep theirs. */
function asPart(clause: string): string {
  return clause.replace(/^[A-Z][a-z]*(?= )/, (word) => word.toLowerCase());
}
