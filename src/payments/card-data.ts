// Refuses card data wherever a merchant might put it: by the name of a field anywhere, by the number in free text.
import { isCardFieldName } from '../lib/card-number.ts';
import type { ErrorDetails } from '../lib/errors.ts';
import { CARD_FIELD, pathBelow } from '../lib/faults.ts';
import { DEPTH_MAXIMUM, TOO_DEEP } from '../lib/json.ts';

export const NUMBERED = 'Contains what looks like a card number. Card data is never accepted here.';

/** Adds a fault for every field at any depth whose name says card data, and for what is too deep to look through. */
export function refuseCardFields(body: object, faults: ErrorDetails, path = '', depth = 1): void {
  if (depth > DEPTH_MAXIMUM) {
    faults.body = TOO_DEEP;
    return;
  }
  const named = !Array.isArray(body);
  for (const [name, value] of Object.entries(body)) {
    if (named && isCardFieldName(name)) faults[pathBelow(path, name)] = CARD_FIELD;
    if (typeof value === 'object' && value !== null)
      refuseCardFields(value, faults, pathBelow(path, name), depth + 1);
  }
}
