// Business names: text that customers can see and tell from others, written in one way however it was typed.
import { textFault } from '../lib/text.ts';

/** Maximum length in code points. */
export const BUSINESS_NAME_MAXIMUM = 120;

const VISIBLE = /[\p{L}\p{N}]/u;
/** Invisible letters and signs: the Hangul fillers and the empty Braille pattern. */
const BLANK = /[\u115f\u1160\u2800\u3164\uffa0]/u;
const LINE_BREAK = /[\p{Zl}\p{Zp}]/u;
/** Format characters, tags among them; joiners are judged by themselves. */
const FORMAT = /(?![\u200c\u200d])\p{Cf}/u;
/** A joiner is part of a word in Persian or Hindi between two of its letters, and nothing to be seen anywhere else. */
const STRAY_JOINER = /(?<![\p{L}\p{M}])[\u200c\u200d]|[\u200c\u200d](?!\p{L})/u;
/** No script stacks more marks on one letter; beyond that they cover the lines above. */
const PILED_MARKS = /\p{M}{5}/u;

/** A name as it is kept: without the spaces around it, composed (Unicode NFC). */
export function plainBusinessName(name: string): string {
  return name.trim().normalize('NFC');
}

/** The sentence that says what is wrong with a business name as it is kept, or undefined. An empty one is wrong too. */
export function businessNameFault(name: string): string | undefined {
  const fault = textFault(name, BUSINESS_NAME_MAXIMUM);
  if (fault !== undefined) return fault;
  if ([BLANK, LINE_BREAK, FORMAT, STRAY_JOINER].some((unseen) => unseen.test(name)))
    return 'Must not contain characters that cannot be seen.';
  if (!VISIBLE.test(name)) return 'Must have a letter or a digit.';
  if (PILED_MARKS.test(name)) return 'Must not pile marks on one letter.';
  return undefined;
}
