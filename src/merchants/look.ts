// What a business name looks like: names that people take for each other have a look in common (Unicode Technical Standard #39).
import { confusablesMap } from 'confusables';
import unhomoglyph from 'unhomoglyph';

/** Spaces, punctuation and what is not drawn: a name with them is taken for the name without. */
const UNREAD = /[^\p{L}\p{N}\p{M}\p{S}]|\p{Default_Ignorable_Code_Point}/gu;

/**
 * The looks of a name: two names look alike if they share one. The case is folded before or after the skeleton, since "І" and "l" look
 * alike in capitals alone, and "в" and "В" are one letter. "i" and "l" count as one, as fonts draw "ı", "І" and "l" alike.
 */
export function looksOf(name: string): readonly string[] {
  const text = name.normalize('NFKC');
  const asWritten = skeleton(foldedCase(text));
  const asDrawn = skeleton(foldedCase(skeleton(text)));
  return [...new Set([asWritten, asDrawn].map((look) => look.replaceAll('i', 'l')))];
}

/** Whether people may take one name for the other. */
export function lookAlike(one: string, other: string): boolean {
  const looks = looksOf(other);
  return looksOf(one).some((look) => looks.includes(look));
}

const foldedCase = (text: string) => text.toUpperCase().toLowerCase().normalize('NFKC');

/** What is left of each character that was met. */
const drawn = new Map<string, string>();

/** The skeleton of UTS #39, without what is not read. `confusables` knows the letter forms that #39 does not list, as small capitals. */
function skeleton(text: string): string {
  let all = '';
  for (const character of text.normalize('NFD')) {
    let left = drawn.get(character);
    if (left === undefined) {
      left = unhomoglyph(confusablesMap.get(character) ?? character).replace(UNREAD, '');
      drawn.set(character, left);
    }
    all += left;
  }
  return all.normalize('NFD');
}
