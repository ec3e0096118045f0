// Text as people type it: its faults, language tags, e-mail addresses, digits of other scripts, and words that are nearly the same.

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same, TAB and LF let through
const CONTROL_BUT_TAB_AND_LF = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same, and what turns the direction of text
const COMMANDS_TO_TERMINALS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text of strangers that no terminal obeys, and that every database takes. */
export const harmlessText = (text: string): string => text.replace(COMMANDS_TO_TERMINALS, '\ufffd');

const BIDI_OVERRIDE = /[\u202a-\u202e\u2066-\u2069]/;
/** Blanks and characters that have no picture, the empty one of Braille too. */
const UNSEEN = /^[\s\u2800\p{Default_Ignorable_Code_Point}]*$/u;

/** Whether nothing of a text can be seen: it is empty, or blanks and characters without a picture. */
export const showsNothing = (text: string): boolean => UNSEEN.test(text) && !BIDI_OVERRIDE.test(text);

/** A text as it was typed: without space around it, with line feeds as line breaks; empty where nothing of it can be seen. */
export const trimmedText = (typed: string): string =>
  showsNothing(typed) ? '' : typed.replace(/\r\n?/g, '\n').trim();

/**
 * The sentence that says what is wrong with `text`, or undefined. Length is counted in code points.
 * `multiline` lets TAB and LF through.
 */
export function textFault(text: string, maximum: number, multiline = false): string | undefined {
  if (text.length > maximum && [...text].length > maximum) return `Must be at most ${maximum} characters.`;
  if (!text.isWellFormed()) return 'Must be well-formed Unicode.';
  if ((multiline ? CONTROL_BUT_TAB_AND_LF : CONTROL).test(text))
    return 'Must not contain control characters.';
  if (showsNothing(text) && text.trim() !== '') return 'Must have a character that can be seen.';
  if (BIDI_OVERRIDE.test(text)) return 'Must not contain characters that override the reading direction.';
  return undefined;
}

const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?';
const ATOM = '[^\\s@"(),:;<>\\[\\\\\\].]+';
const EMAIL = new RegExp(`^(?=.{1,64}@)${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})*$`, 'u');

/** Whether `text` has the form of an e-mail address: RFC 5322 dot-atom at RFC 1035 labels, in any script (RFC 6531). */
export function isEmailAddress(text: string): boolean {
  return text.length <= 508 && EMAIL.test(text);
}

/** A language tag (BCP 47) in the case that the standard recommends; undefined if it is none. */
export function languageTag(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}

/** A text with its decimal digits of any script as 0–9: Unicode lays each script's ten out in a row, zero first, apart from the next. */
export function asciiDigits(text: string): string {
  // NFKC turns the compatibility digits (full-width, mathematical), whose rows do touch, into 0–9.
  return text.normalize('NFKC').replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    let value = 0;
    while (/\p{Nd}/u.test(String.fromCodePoint(digit.codePointAt(0)! - value - 1))) value++;
    return String(value);
  });
}

/**
 * How many letters must be put in, taken out, changed or swapped with their neighbour to turn one word into the other (optimal string
 * alignment).
 */
export function editDistance(one: string, other: string): number {
  const rows = Array.from({ length: one.length + 1 }, (_, i) => [i, ...Array(other.length).fill(0)]);
  for (let j = 0; j <= other.length; j++) rows[0]![j] = j;
  for (let i = 1; i <= one.length; i++) {
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j] + 1, rows[i]![j - 1] + 1, rows[i - 1]![j - 1] + same);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2] + 1);
      rows[i]![j] = least;
    }
  }
  return rows[one.length]![other.length];
}

/** The value of a JSON text; `instead` for a text that is none. */
export function jsonOr(text: string, instead?: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return instead;
  }
}

/** A sentence as part of a line: begun in lower case, without its full stop. */
export const asClause = (sentence: string): string =>
  sentence.slice(0, 1).toLowerCase() + sentence.slice(1).replace(/\.$/, '');

/** `3,907 seals`, `1 seal`; nothing counts as none. */
export function counted(n: number | undefined, one: string, many = `${one}s`): string {
  return `${figure(n ?? 0)} ${n === 1 ? one : many}`;
}

/** With commas between thousands. The formatter takes a process 10 ms to make, which few commands need. */
const figure = (n: number) => (n < 1000 ? String(n) : n.toLocaleString('en'));
