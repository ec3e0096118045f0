// The merchant's own data on a payment: any JSON object within limits, kept exactly or refused.
import { holdsCardNumber } from '../lib/card-number.ts';
import type { ErrorDetails } from '../lib/errors.ts';
import { fieldPath } from '../lib/faults.ts';
import { INEXACT } from '../lib/json.ts';
import { NUMBERED } from './card-data.ts';

const BYTES_MAXIMUM = 16 * 1024;
const KEYS_MAXIMUM = 100;
const DEPTH_MAXIMUM = 5;
/** Many programs read a text only up to this character, and PostgreSQL's `jsonb` refuses it. */
const NUL = '\0';
const TOO_LARGE = `Must be at most ${BYTES_MAXIMUM} bytes of JSON.`;

/** Adds what is wrong with a metadata object to `faults`: size, keys, depth, text, numbers, card numbers. */
export function checkMetadata(metadata: object, faults: ErrorDetails): void {
  let keys = 0;
  let characters = 0;

  function visit(value: unknown, path: string[], depth: number): void {
    if (typeof value === 'string') {
      characters += value.length;
      if (characters > BYTES_MAXIMUM)
        faults.metadata = TOO_LARGE; // nothing of it is searched further
      else if (!value.isWellFormed()) faults[fieldPath(path)] = 'Must be well-formed Unicode.';
      else if (value.includes(NUL)) faults[fieldPath(path)] = 'Must not contain the character U+0000.';
      else if (holdsCardNumber(value)) faults[fieldPath(path)] = NUMBERED;
    } else if (typeof value === 'number') {
      if (holdsCardNumber(String(value))) faults[fieldPath(path)] = NUMBERED;
    } else if (value === INEXACT) {
      faults[fieldPath(path)] = 'Has more digits than a JSON number keeps. Send it as a string.';
    } else if (typeof value === 'object' && value !== null) {
      if (depth > DEPTH_MAXIMUM) {
        faults.metadata = `Must be nested at most ${DEPTH_MAXIMUM} levels deep.`;
        return;
      }
      const named = !Array.isArray(value);
      for (const [name, inner] of Object.entries(value)) {
        if (named) {
          keys++;
          if (!name.isWellFormed()) faults.metadata = 'Must have names in well-formed Unicode.';
          else if (name.includes(NUL)) faults.metadata = 'Must have names without the character U+0000.';
          else if (holdsCardNumber(name)) faults[fieldPath([...path, name])] = NUMBERED;
        }
        visit(inner, [...path, name], depth + 1);
      }
    }
  }

  visit(metadata, ['metadata'], 1);
  if (keys > KEYS_MAXIMUM) faults.metadata = `Must have at most ${KEYS_MAXIMUM} names in all.`;
  // Only shallow values are serialised, because the serialiser recurses.
  if (!faults.metadata && Buffer.byteLength(JSON.stringify(metadata)) > BYTES_MAXIMUM) {
    faults.metadata = TOO_LARGE;
  }
}
