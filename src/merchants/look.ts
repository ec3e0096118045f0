// What a business name looks like: names that people take for each other have a look in common (Unicode Technical Standard #39).
import confusables from './confusables.json' with { type: 'json' };
import letterForms from './letter-forms.json' with { type: 'json' };

/** What a character is drawn like, by the character. Made for the first name, because few starts ever look at one. */
let prototypes: ReadonlyMap<string, string> | undefined;
const readPrototypes = () =>
  new Map(
    // Letter forms are Latin letters that #39 does not list: those that Unicode names SMALL CAPITAL P, P WITH STROKE, TURNED A and so on,
    // and letters in black circles, black squares and flags.
    [...Object.entries(confusables), ...Object.entries(letterForms)].flatMap(([prototype, characters]) =>
      [...characters].map((character): [string, string] => [character, prototype]),
    ),
  );

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

/** The skeleton of UTS #39, without what is not read. */
function skeleton(text: string): string {
  prototypes ??= readPrototypes();
  let all = '';
  for (const character of text.normalize('NFD')) {
    let left = drawn.get(character);
    if (left === undefined) {
      left = (prototypes.get(character) ?? character).replace(UNREAD, '');
      drawn.set(character, left);
    }
    all += left;
  }
  return all.normalize('NFD');
}
