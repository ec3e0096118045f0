// Text as the fields of payment codes take it: one line, cut between characters, folded to ASCII where they want that.

/** Letters that decompose into nothing nearer to ASCII. */
const LETTERS: Record<string, string> = {
  ...{ ß: 'ss', ẞ: 'SS', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o', Ø: 'O', đ: 'd', Đ: 'D', ð: 'd', Ð: 'D' },
  ...{ ł: 'l', Ł: 'L', þ: 'th', Þ: 'Th', ı: 'i', '’': "'", '‘': "'", '–': '-', '—': '-' },
};

/** `text` as well-formed Unicode on one line, white space and control characters joined to single spaces. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
}

/** The first `maximum` code points of `text`, fewer where they take more than `bytes` in UTF-8; no space at the end. */
export function firstCharacters(text: string, maximum: number, bytes = Number.POSITIVE_INFINITY): string {
  let cut = '';
  let [count, size] = [0, 0];
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (++count > maximum || size > bytes) break;
    cut += character;
  }
  return cut.trimEnd();
}

/** `text` in printable ASCII on one line: accents are dropped, as is what has no likeness. */
export function asciiFolded(text: string): string {
  const folded = oneLine(text)
    .replace(/[^ -~]/gu, (character) => LETTERS[character] ?? character)
    .normalize('NFKD')
    .replace(/[^ -~]/gu, '');
  return oneLine(folded);
}
