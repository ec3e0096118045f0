// What keeps every command from taking a configuration for production; a short command loads no other checks.
import { type Installation, isDecisive, lineOf } from './check.ts';
import { READ_PLACE_CHECKS } from './place-checks.ts';
import { READ_CHECKS } from './settings-checks.ts';

/** Why no command takes a configuration for production as it is written, in one line; undefined where all do. */
export function readingRefusal(subject: Installation): string | undefined {
  for (const check of [...READ_CHECKS, ...READ_PLACE_CHECKS]) {
    if (!isDecisive(check, subject)) continue;
    const verdict = check.look(subject);
    if (verdict.is === 'failed') return lineOf(verdict);
  }
  return undefined;
}
