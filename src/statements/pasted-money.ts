// Tells which pasted lines and which lines of statements are the same money, so that it counts once whichever came first.
import { foldedWords } from '../lib/search-terms.ts';
import { type KeptLine, saidOn } from './kept.ts';
import { isPart } from './line-queries.ts';
import { isDaysApart } from './other-money.ts';

/** The least that is taken for a reference. */
const REFERENCE_MINIMUM = 6;

/**
 * Pairs pasted lines with lines of statements: of the same amount, within ten days, with a reference or the whole name in common. Of
 * several, the one of the nearest day. No line is in two pairs.
 */
export function pairsOf(
  pasted: readonly KeptLine[],
  stated: readonly KeptLine[],
): (readonly [pasted: KeptLine, stated: KeptLine])[] {
  const key = (line: KeptLine) => `${line.amount_minor} ${line.currency} ${line.direction}`;
  const counts = (line: KeptLine) => line.state !== 'replaced' && line.state !== 'undone' && !isPart(line);
  const byAmount = Map.groupBy(stated.filter(counts), key);
  const taken = new Set<KeptLine>();
  return pasted.filter(counts).flatMap((one) => {
    const apart = (line: KeptLine) => Math.abs(Date.parse(line.day) - Date.parse(one.day)) || 0;
    const same = (byAmount.get(key(one)) ?? []).filter((line) => !taken.has(line) && isSame(one, line));
    const [nearest] = same.sort((a, b) => apart(a) - apart(b));
    if (!nearest) return [];
    taken.add(nearest);
    return [[one, nearest] as const];
  });
}

function isSame(pasted: KeptLine, stated: KeptLine): boolean {
  if (isDaysApart(pasted, stated)) return false;
  const [one, other] = [saidOn(pasted), saidOn(stated)];
  const [from, by] = [one.counterparty.account, other.counterparty.account];
  if (from !== undefined && by !== undefined) return from === by;
  const there = [...Object.values(other.references), other.text].map(compact);
  const references = [one.text, ...one.text.split(/\s+/)].filter((text) => /\d/.test(text)).map(compact);
  if (references.some((text) => text.length >= REFERENCE_MINIMUM && there.some((all) => all.includes(text))))
    return true;
  const name = foldedWords(one.counterparty.name ?? '');
  const words = foldedWords(`${other.counterparty.name ?? ''} ${other.text}`);
  return name.some((word) => word.length > 2) && name.every((word) => words.includes(word));
}

const compact = (text: string) => text.toUpperCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
