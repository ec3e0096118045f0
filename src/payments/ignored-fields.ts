// Which fields of a payment request are ignored because no field has their name, and which fields were meant.
import { fieldPath } from '../lib/faults.ts';
import { editDistance } from '../lib/text.ts';
import { customerSchema, paymentRequestSchema } from './request.ts';

/** A name this many letters away from a known one is taken for a slip. */
const SLIP_LETTERS = 2;
const NAMED_MAXIMUM = 8;

interface IgnoredField {
  /** The path as an answer may show it. */
  name: string;
  /** The known field that was probably meant. */
  meant: string | undefined;
}

/** The first unknown fields of a checked body, at most 8. What is below `metadata` is the merchant's own. */
export function ignoredFields(body: unknown): IgnoredField[] {
  const fields = body as Record<string, unknown>;
  const below = typeof fields.customer === 'object' && fields.customer !== null ? fields.customer : {};
  return [
    ...unknownAmong(Object.keys(fields), Object.keys(paymentRequestSchema.shape), []),
    ...unknownAmong(Object.keys(below), Object.keys(customerSchema.shape), ['customer']),
  ].slice(0, NAMED_MAXIMUM);
}

function unknownAmong(
  names: readonly string[],
  known: readonly string[],
  path: readonly string[],
): IgnoredField[] {
  const isSlip = (name: string, one: string) =>
    Math.abs(name.length - one.length) <= SLIP_LETTERS &&
    editDistance(name.toLowerCase(), one) <= SLIP_LETTERS;
  return names
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = known.find((one) => isSlip(name, one));
      return { name: fieldPath([...path, name]), meant: meant && [...path, meant].join('.') };
    });
}

/** The header that names them: `Counterfoil-Ignored: "curency" (currency?), "colour"`. */
export function ignoredHeader(ignored: readonly IgnoredField[]): Record<string, string> {
  if (ignored.length === 0) return {};
  const named = ignored.map(({ name, meant }) => `"${name}"${meant ? ` (${meant}?)` : ''}`);
  return { 'counterfoil-ignored': named.join(', ') };
}
