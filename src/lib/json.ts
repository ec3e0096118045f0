// JSON as it was sent: strict UTF-8, no keys that reach into prototypes, and no number silently rounded.
import { OperationalError, validationFailed } from './errors.ts';

/** Stands where a number stood whose digits JavaScript cannot hold. No schema takes it for anything else. */
export const INEXACT = Symbol('inexact number');

/** How deep objects and lists may lie in one another, and what is said of deeper ones. */
export const DEPTH_MAXIMUM = 100;
export const TOO_DEEP = `Must be nested at most ${DEPTH_MAXIMUM} levels deep.`;

const decoder = new TextDecoder('utf-8', { fatal: true }); // strips a byte order mark

/** Fewer than 16 significant digits and no exponent always survive the way through a double (IEEE 754: 15 do). */
const MAY_BE_INEXACT = /[\d.]{16}|\d[eE]/;

/** `-12.50e1` → `-125`: the value in one form, so that two spellings of a number compare. */
function canonicalDecimal(source: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(
    source,
  )!;
  const digits = (whole! + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end--; // a pattern for this would look at every run of zeros again from each of them
  if (end === 0) return '0';
  // An exponent too long for a double is rounded here: it stays far from any that a double's own spelling has.
  return `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** TypeScript's library does not know the reviver's third argument yet (ECMAScript 2026, JSON.parse source text access). */
type Reviver = (key: string, value: unknown) => unknown;

function keepExact(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number' || context.source === undefined) return value;
  const exact =
    Number.isFinite(value) && canonicalDecimal(context.source) === canonicalDecimal(String(value));
  return exact ? value : INEXACT;
}

/** Whether a parsed object carries a key that a careless copy would turn into a prototype. Iterative: depth is the sender's. */
function holdsPrototypeKey(root: unknown): boolean {
  const open = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, '__proto__')) return true;
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner !== 'object' || inner === null) continue;
      if (name === 'constructor' && Object.hasOwn(inner, 'prototype')) return true;
      open.push(inner);
    }
  }
  return false;
}

/**
 * Parses UTF-8 JSON (RFC 8259; a byte order mark is let pass). Numbers that a double cannot hold as written come back
 * as `INEXACT`. Throws `invalid_json` for anything else that is not JSON, and for prototype keys; `validation_failed` for
 * nesting that the parser cannot follow.
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    const text = decoder.decode(bytes);
    const value = MAY_BE_INEXACT.test(text) ? JSON.parse(text, keepExact as Reviver) : JSON.parse(text);
    if (!/__proto__|constructor|\\u/.test(text) || !holdsPrototypeKey(value)) return value;
  } catch (error) {
    if (error instanceof RangeError) throw validationFailed({ body: TOO_DEEP }); // deeper than the parser's stack
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw new OperationalError('invalid_json', 'The request body is not valid JSON.');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters
const MAY_NEED_ESCAPING = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Text as a JSON string, or `null`: what `JSON.stringify` gives, quicker for text that needs no escaping. */
export function quoted(text: string | null): string {
  return text !== null && !MAY_NEED_ESCAPING.test(text) ? `"${text}"` : JSON.stringify(text);
}
