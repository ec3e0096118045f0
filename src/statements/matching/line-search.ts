// Finds bank lines by what a reviewer types: a reference or a part of one, a payer, an account, an amount, words of the text.

import { foldedWords } from '../../lib/search-terms.ts';
import { asReference } from '../../payments/methods/transfer/creditor-reference.ts';
import { amountOf } from '../../review/meaning.ts';
import type { Reader } from '../../store/database.ts';
import { rowsWithIds } from '../../store/table.ts';
import { type KeptLine, LINES, saidOn } from '../kept.ts';
import { type LinePlace, listSearched, type SearchedLine } from '../line-queries.ts';

/** Lines that one search looks through, the newest. */
export const SEARCHED_MAXIMUM = 10_000;
const PAGE = 500;
/** Characters of a reference that are enough to tell it, and those of a part of one. */
const CUT_MINIMUM = 12;
const PART_MINIMUM = 4;
/** What banks write before a reference. */
const BANK_WORDS = /^\s*(?:[A-Z]{4}\+|\/[A-Z]{3,4}\/)/i;

const compact = (text: string) => asReference(text).replaceAll(/[^\p{L}\p{N}]/gu, '');

/** The lines that `text` means, the newest day first, at most `limit`. No index serves this: the newest 10,000 are looked through. */
export async function searchLines(database: Reader, text: string, limit: number): Promise<KeptLine[]> {
  const isMeant = meaning(text);
  const found: string[] = [];
  let after: LinePlace | undefined;
  for (let looked = 0; looked < SEARCHED_MAXIMUM && found.length < limit; looked += PAGE) {
    const page = await listSearched(database, after, PAGE);
    for (const line of page) if (found.length < limit && isMeant(line)) found.push(line.id);
    if (page.length < PAGE) break;
    after = page.at(-1)!;
    // SQLite answers without ever waiting: others get their turn between two pages.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const rows = new Map((await rowsWithIds(database, LINES, found)).map((row) => [row.id, row]));
  return found.flatMap((id) => rows.get(id) ?? []);
}

function meaning(text: string): (line: SearchedLine) => boolean {
  const amount = amountOf(text);
  const reference = compact(text.replace(BANK_WORDS, ''));
  const words = foldedWords(text);
  const mayHold = textsThatMayHold(reference, words);
  return (line) => {
    if (amount?.amount_minor === line.amount_minor)
      if (amount.currency === undefined || amount.currency === line.currency) return true;
    if (line.details === null || !mayHold(line.details)) return false;
    const { references, counterparty, text: written } = saidOn(line);
    const own = Object.values(references).map(compact);
    const runs = [...own, compact(written), compact(counterparty.account ?? '')];
    if (reference.length >= PART_MINIMUM && runs.some((run) => run.includes(reference))) return true;
    if (own.some((one) => one.length >= CUT_MINIMUM && reference.startsWith(one))) return true;
    const there = foldedWords(`${counterparty.name ?? ''} ${written}`);
    return words.length > 0 && words.every((word) => there.some((one) => one.startsWith(word)));
  };
}

/** Characters of Unicode that need more than `toUpperCase`, in the JSON text of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters of ASCII
const BEYOND_ASCII = /[^\x00-\x7f]/;

/**
 * Tells texts that cannot hold a reference or all of some words by a look at their letters alone: taking each apart takes three times
 * as long. Of a reference that a bank cut at least the beginning is there.
 */
function textsThatMayHold(reference: string, words: readonly string[]): (json: string) => boolean {
  const start = reference.slice(0, CUT_MINIMUM);
  return (json) => {
    if (BEYOND_ASCII.test(json)) return true;
    const upper = json.replaceAll(/\\[nrt]/g, ' ').toUpperCase();
    const folded = upper.replaceAll(/([AOU])E/g, '$1');
    if (words.length > 0 && words.every((word) => folded.includes(word))) return true;
    return start.length >= PART_MINIMUM && compact(upper).includes(start);
  };
}
