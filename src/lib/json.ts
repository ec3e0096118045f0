// JSON as it was sent: strict UTF-8, no member given twice, no keys that reach into prototypes, and no number silently rounded.
import { OperationalError, validationFailed } from './errors.ts';

/** Stands where a number stood whose digits JavaScript cannot hold. No schema takes it for anything else. */
export const INEXACT = Symbol('inexact number');

/** The deepest nesting of objects and lists, and the error beyond it. */
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

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Counts the members that a valid JSON text writes: the colons outside its strings. No pattern: this takes half its time. */
function countWritten(text: string): number {
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) members++;
    if (code !== QUOTE) continue;
    at++;
    while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return members;
}

/**
 * Counts the members of a parsed value at every depth. Returns undefined where a name would reach a prototype in a careless copy.
 * Iterative, because the sender chooses the depth.
 */
function countKept(root: unknown): number | undefined {
  const open = [root];
  let members = 0;
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const inner of value) if (typeof inner === 'object') open.push(inner);
      continue;
    }
    for (const name in value) {
      members++;
      const inner = (value as Record<string, unknown>)[name];
      if (name === '__proto__') return undefined;
      if (typeof inner !== 'object' || inner === null) continue;
      if (name === 'constructor' && Object.hasOwn(inner, 'prototype')) return undefined;
      open.push(inner);
    }
  }
  return members;
}

/** A member's name that is one character written as an escape. In valid JSON no string's text looks like this. */
const ESCAPED_NAME = /(?<=[{,]\s*)"\\(?:u([\da-fA-F]{4})|(["\\/bfnrt]))"(?=\s*:)/g;

/**
 * Writes names of one escaped character without the escape. Because V8 14.6 (Node 26.10) takes such a name for another that an earlier
 * text had at the same place: after `{"x":1,"\\":2}` it reads `{"x":1,"\u0062":2}` as `{"x":1,"\\":2}`. Throws `SyntaxError` for a
 * name that must be escaped: a quote, a backslash or a control character alone.
 */
function withoutEscapedNames(text: string): string {
  if (!text.includes('"\\')) return text;
  return text.replace(ESCAPED_NAME, (_, code: string | undefined, short: string | undefined) => {
    const name = code === undefined ? short! : String.fromCharCode(Number.parseInt(code, 16));
    const isRaw = code === undefined ? name === '/' : name >= ' ' && name !== '"' && name !== '\\';
    if (!isRaw) throw new SyntaxError('a name of one escaped character');
    return `"${name}"`;
  });
}

/**
 * Parses UTF-8 JSON (RFC 8259; a byte order mark is let pass). Numbers that a double cannot hold as written come back
 * as `INEXACT`. Throws `invalid_json` for anything else that is not JSON, for an object that has a member twice, for a member named by a
 * quote, a backslash or a control character alone, and for prototype keys; `validation_failed` for nesting that the parser cannot follow.
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    const text = withoutEscapedNames(decoder.decode(bytes));
    const value = MAY_BE_INEXACT.test(text) ? JSON.parse(text, keepExact as Reviver) : JSON.parse(text);
    // The parser keeps the last of equal names, however they are escaped. So fewer members are kept than were written.
    if (countKept(value) === countWritten(text)) return value;
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
