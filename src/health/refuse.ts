// What keeps a service in production from starting: the first check that fails, told in one line.
import type { Stage, Subject, Verdict } from './check.ts';
import { CHECKS } from './checks.ts';
import { READ_CHECKS } from './settings-checks.ts';

/** Production does not start like this. The message is one line: where, what is wrong, how to mend it. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}

/** Why no command takes a configuration for production as it is written, in one line; nothing where all do. */
export function readingRefusal(subject: Pick<Subject, 'settings' | 'urls'>): string | undefined {
  if (subject.settings.environment === 'development') return undefined;
  for (const { look } of READ_CHECKS) {
    const verdict = look(subject);
    if (verdict.is === 'failed') return lineOf(verdict);
  }
  return undefined;
}

/**
 * Asks the checks of one stage in their order, and raises `StartRefused` with the first that fails. Development starts as it
 * is. What a check itself cannot look at (a `DatabaseError`) it raises.
 */
export async function refuseToStart(
  subject: Subject,
  stage: Extract<Stage, 'start' | 'store'>,
): Promise<void> {
  if (subject.settings.environment === 'development') return;
  for (const check of CHECKS) {
    if (check.stage !== stage) continue;
    const verdict = await check.look(subject);
    if (verdict.is === 'failed') throw new StartRefused(lineOf(verdict));
  }
}

/** A verdict in one line: `counterfoil.yaml:3: nodes is 2, and SQLite takes one: set nodes to 1`. */
export function lineOf({ where, says, mend }: Verdict): string {
  return [where, asPart(says), mend].filter((part) => part !== undefined).join(': ');
}

/** A sentence's beginning as the middle of a line has it; names with capitals within (`SQLite`) keep theirs. */
function asPart(clause: string): string {
  return clause.replace(/^[A-Z][a-z]*(?= )/, (word) => word.toLowerCase());
}
