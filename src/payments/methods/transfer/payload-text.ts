// What payment codes are made of: an account, what is paid into it, and text as their fields take it, on one line and cut or folded.

/** A structured address, the only type left. `country`: ISO 3166-1, two letters. */
interface StructuredAddress {
  street?: string | undefined;
  building?: string | undefined;
  postal_code: string;
  city: string;
  country: string;
}

/** An account that takes transfers in one currency. */
export interface Account {
  holder: string;
  currency: string;
  iban?: string | undefined;
  bic?: string | undefined;
  upi_id?: string | undefined;
  pix_key?: string | undefined;
  /** The holder's town, for PIX. */
  city?: string | undefined;
  /** The holder's, for the Swiss QR-bill. */
  address?: StructuredAddress | undefined;
  /** Further lines to copy, for accounts without an IBAN. */
  rows?: readonly { label: string; value: string }[] | undefined;
}

/** What is paid into an account: IBAN and reference in electronic form, the amount in hundredths. */
export interface Transfer extends Account {
  iban: string;
  amount_minor: number;
  reference: string;
  /** What payer and payee read besides. */
  message?: string | null | undefined;
}

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
