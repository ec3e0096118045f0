// What counts as text: well-formed Unicode without characters that steer terminals, spreadsheets or reading order.

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same, TAB and LF let through
const CONTROL_BUT_TAB_AND_LF = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const BIDI_OVERRIDE = /[\u202a-\u202e\u2066-\u2069]/;

/**
 * The sentence that says what is wrong with `text`, or undefined. Length is counted in code points.
 * `multiline` lets TAB and LF through.
 */
export function textFault(text: string, maximum: number, multiline = false): string | undefined {
  if (text.length > maximum && [...text].length > maximum) return `Must be at most ${maximum} characters.`;
  if (!text.isWellFormed()) return 'Must be well-formed Unicode.';
  if ((multiline ? CONTROL_BUT_TAB_AND_LF : CONTROL).test(text))
    return 'Must not contain control characters.';
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
