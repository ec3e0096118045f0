// What a pasted search text may mean: a payment's id, a line of a bank statement, an amount, a reference.
import { isCurrency, parseTypedAmount } from '../lib/money.ts';
import { foldedWords, searchedName, searchedReference } from '../lib/search-terms.ts';
import { asciiDigits } from '../lib/text.ts';
import {
  asReference,
  creditorReference,
  idRangeOf,
  idRangeOfStart,
  qrReference,
  referencesIn,
  shortReference,
} from '../payments/methods/transfer/creditor-reference.ts';
import { isIban } from '../payments/methods/transfer/payer-account.ts';
import type { Reader } from '../store/database.ts';
import { idsBetween, textsKnown } from './queries.ts';
import type { SearchFilter } from './search-queries.ts';

/** The least that is taken for a reference inside a longer text. */
const REFERENCE_MINIMUM = 4;
/** Words of a name inside a longer text. */
const NAME_WORDS = [5, 4, 3, 2];
/** An amount with decimals inside a longer text, in the digits of any script. */
const AMOUNT_INSIDE =
  /(?<![\w\p{Nd}.,'’])\p{Nd}[\p{Nd}.,٬'’．，\u00a0\u202f]*[.,٫．，]\p{Nd}{2}(?![\w\p{Nd}.'’．]|[,٫，]\p{Nd})/gu;

/** The payments that `text` means, the whole of it or a part. Throws `DatabaseError`. */
export async function meaningOf(database: Reader, text: string): Promise<SearchFilter> {
  const id = /\bpay_[0-9a-z]{36}\b/.exec(text)?.[0];
  if (id !== undefined) return { ids: [id] };
  const ids = await findByTransferReference(database, text);
  if (ids.length > 0) return { ids };
  const email = /[^\s<>]+@[^\s<>]+/.exec(text)?.[0];
  if (email !== undefined) return { email };
  return (
    (await referenceIn(database, text)) ??
    amountOf(text) ??
    (await partOf(database, text)) ?? { reference: text }
  );
}

/** The payments whose transfer's, merchant's or bank's reference `text` is. Throws `DatabaseError`. */
export async function referenceMeant(database: Reader, text: string): Promise<SearchFilter> {
  const ids = await findByTransferReference(database, text);
  if (ids.length > 0) return { ids };
  return (await referenceIn(database, text)) ?? { reference: text };
}

/** The whole text as a reference or an account that some payment has. A bare number is a reference before it is an amount. */
async function referenceIn(database: Reader, text: string): Promise<SearchFilter | undefined> {
  const [reference] = await textsKnown(database, 'merchant_reference', [text]);
  if (reference !== undefined) return { reference };
  const electronic = searchedReference(text);
  const [bank_reference] = await textsKnown(database, 'bank_reference', [electronic]);
  if (bank_reference !== undefined) return { bank_reference };
  const [account] = await textsKnown(database, 'payer_account', [electronic.replaceAll(/[.-]/g, '')]);
  return account === undefined ? undefined : { account };
}

/** A part of a text that some payment has: an account, the bank's reference, the payer's name, the merchant's reference, an amount. */
async function partOf(database: Reader, text: string): Promise<SearchFilter | undefined> {
  const words = text
    .split(/[\s+:;,/|]+/)
    .filter((word) => word.length >= REFERENCE_MINIMUM && /\d/.test(word));
  const [account] = await textsKnown(database, 'payer_account', ibansIn(text));
  if (account !== undefined) return { account };
  const [bank_reference] = await textsKnown(database, 'bank_reference', words.map(searchedReference));
  if (bank_reference !== undefined) return { bank_reference };
  const [payer] = await textsKnown(database, 'payer_name', namesIn(text));
  if (payer !== undefined) return { payer };
  const [reference] = await textsKnown(database, 'merchant_reference', words);
  if (reference !== undefined) return { reference };
  const amounts = text.match(AMOUNT_INSIDE) ?? [];
  return amounts.length === 1 ? amountOf(amounts[0]) : undefined;
}

/** An amount as pages and banks write it, with a currency or not: `€49.90`, `1.200,00 EUR`, `CHF 3,480.00`. */
export function amountOf(text: string): SearchFilter | undefined {
  const number = asciiDigits(text.replace(/(?:\b[a-z]{1,2})?\p{Sc}/iu, ''));
  const parts = /^\s*(?:([a-z]{3})\s*)?\+?(\d[\d.,٬٫'’\s]*?)(?:\s*([a-z]{3}))?\s*$/i.exec(number);
  const currency = (parts?.[1] ?? parts?.[3])?.toUpperCase();
  if (!parts || (currency !== undefined && !isCurrency(currency))) return undefined;
  const amount_minor = parseTypedAmount(parts[2]!, currency);
  return amount_minor === undefined ? undefined : { amount_minor, currency };
}

function ibansIn(text: string): string[] {
  const found = text.toUpperCase().matchAll(/(?<![0-9A-Z])[A-Z]{2}\d\d(?:\s?[0-9A-Z]){11,30}/g);
  return [...found].flatMap(([run]) => {
    const electronic = searchedReference(run);
    // Words may follow the account: the longest part with right check digits is it.
    const lengths = Array.from({ length: electronic.length - 14 }, (_, i) => electronic.length - i);
    return lengths.map((length) => electronic.slice(0, length)).filter(isIban);
  });
}

function namesIn(text: string): string[] {
  const words = foldedWords(text);
  const parts = NAME_WORDS.flatMap((count) =>
    words.slice(0, Math.max(0, words.length - count + 1)).map((_, i) => words.slice(i, i + count)),
  );
  return [searchedName(text), ...parts.map((part) => part.sort().join(' '))];
}

/** The longest reference: a Swiss QR reference. */
const LONGEST = 27;
/** The least that is taken for a reference which was cut. */
const SHORTEST = 12;
/** Id ranges that one text is looked up in. */
const RANGES_MAXIMUM = 50;

/**
 * The ids of the payments whose transfer carries a reference in `text`: of any form, however grouped, in any letter case, alone or inside
 * a line such as `EREF+RF…`, whole or cut after 12 characters. Several only if the reference was cut. Throws `DatabaseError`.
 */
async function findByTransferReference(database: Reader, text: string): Promise<string[]> {
  let looked = 0;
  for (const [references, rangeOf, isIts] of [
    [referencesIn(text), idRangeOf, (forms: string[], one: string) => forms.includes(one)],
    [
      startsIn(text),
      idRangeOfStart,
      (forms: string[], one: string) => forms.some((form) => form.startsWith(one)),
    ],
  ] as const)
    for (const reference of references) {
      const range = rangeOf(reference);
      if (!range || ++looked > RANGES_MAXIMUM) continue;
      // A reference holds the moment of creation. The payments of that moment are read, to find whose reference it is.
      const found = (await idsBetween(database, ...range)).filter((one) =>
        isIts([creditorReference(one), shortReference(one), qrReference(one)], reference),
      );
      if (found.length > 0) return found.map(({ id }) => id);
    }
  return [];
}

/** What may be the beginning of a reference that was cut: runs of words, and the first 12 characters behind each `RF` that words touch. */
export const startsIn = (text: string): string[] => [
  ...runsIn(text),
  ...rfWindows(text, [SHORTEST]).filter((start) => /^RF\d\d/.test(start)),
];

/** The texts of these lengths that begin with each `RF` in a text, without what separates their characters. */
export function rfWindows(text: string, lengths: readonly number[]): string[] {
  const written = asReference(text).replaceAll(/[^0-9A-Z]/g, '');
  const places = [...written.matchAll(/RF/g)].map(({ index }) => index);
  return places.flatMap((place) => lengths.map((length) => written.slice(place, place + length)));
}

/** Texts as `asReference` writes them that begin and end with a word and have only spaces between. The longest first. */
export function runsIn(text: string): string[] {
  const words = [...asReference(text).matchAll(/[0-9A-Z]+/g)];
  const runs = words.flatMap((_, first) => {
    const some: string[] = [];
    let run = '';
    for (const [i, word] of words.slice(first).entries()) {
      const before = words[first + i - 1];
      const between = i === 0 ? '' : word.input.slice(before!.index + before![0].length, word.index);
      run += word[0];
      if (/\S/.test(between) || run.length > LONGEST) break;
      if (run.length >= SHORTEST) some.push(run);
    }
    return some;
  });
  return runs.sort((a, b) => b.length - a.length);
}
