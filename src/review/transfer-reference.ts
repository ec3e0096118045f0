// Finds the payments that a line of a bank statement is for, by the transfer reference inside it.

import {
  asReference,
  creditorReference,
  idRangeOf,
  idRangeOfStart,
  qrReference,
  referencesIn,
  shortReference,
} from '../payments/methods/transfer/creditor-reference.ts';
import type { Reader } from '../store/database.ts';
import { idsBetween } from './candidate-queries.ts';

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
export async function findByTransferReference(database: Reader, text: string): Promise<string[]> {
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
      // The reference tells the moment of creation. Which of that moment's payments it is, only they can tell.
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
