// The forms in which names and references are stored and compared in searches, however a bank or a person writes them.

/**
 * A person's name for searching: its words in upper case without accents, sorted. A bank may write `MUSTERMANN, ERIKA`, and `MUELLER`
 * for Müller.
 */
export function searchedName(name: string): string {
  return foldedWords(name).sort().join(' ');
}

/** Letters that Unicode does not take apart, and what banks write for them. */
const WHOLE_LETTERS: Readonly<Record<string, string>> = {
  Ł: 'L',
  Ø: 'O',
  Đ: 'D',
  Æ: 'A',
  Œ: 'O',
  Þ: 'TH',
  Ħ: 'H',
};

/** The words of a text in upper case, without accents, and with Ä, Ö, Ü and AE, OE, UE as A, O, U. */
export const foldedWords = (text: string): string[] => wordsOf(text).map(folded);

function wordsOf(text: string): string[] {
  const letters = text.toUpperCase().normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return letters
    .replaceAll(/[ŁØĐÆŒÞĦ]/g, (letter) => WHOLE_LETTERS[letter]!)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

const folded = (word: string) => word.replaceAll(/([AOU])E/g, '$1');

/**
 * Whether two names may be one person's or one firm's. Equal letters are, and equal words in any order, whatever their length. Else the
 * words of the shorter name must be words of the other, or initials of them, and one word of three letters or two of two must be the same.
 */
export function namesAgree(one: string, other: string): boolean {
  const [few, many] = [wordsOf(one), wordsOf(other)].sort((a, b) => a.length - b.length) as [
    string[],
    string[],
  ];
  if (few.length === 0) return false;
  if (searchedName(one) === searchedName(other)) return true;
  // Chinese and Japanese names are written with and without a space, and so are Mac Donald and de la Cruz.
  if (few.map(folded).join('') === many.map(folded).join('')) return true;
  const left = many.map(folded);
  let same = 0;
  return (
    few
      .toSorted((a, b) => b.length - a.length)
      .every((word) => {
        const whole = left.indexOf(folded(word));
        const place = whole >= 0 ? whole : left.findIndex((long) => isInitial(folded(word), long));
        if (whole >= 0) same += word.length > 2 ? 2 : word.length - 1;
        if (place >= 0) left.splice(place, 1);
        return place >= 0;
      }) && same > 1
  );
}

const isInitial = (one: string, other: string) =>
  (one.length === 1 && other.startsWith(one)) || (other.length === 1 && one.startsWith(other));

/** A bank's reference or an account number for searching: upper case, without spaces. */
export function searchedReference(text: string): string {
  return text.replaceAll(/\s/g, '').toUpperCase();
}
