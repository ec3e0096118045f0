// Tells lines apart which a bank gave one reference and one amount: lines of other money must not be taken for known ones.
import { foldedWords, namesAgree } from '../lib/search-terms.ts';
import { sha256Hex } from '../lib/secrets.ts';
import { DAY_MS, dateIn } from '../lib/time.ts';
import { referencesIn } from '../payments/methods/transfer/creditor-reference.ts';
import { type KeptLine, saidOn } from './kept.ts';
import { isPart } from './line-queries.ts';

/** The days that files may differ by when they show one booking. A bank that counts anew each year uses its references again later. */
const DAYS_APART = 10;

/** Whether two lines are of days too far apart to be one booking. */
export const isDaysApart = (one: Pick<KeptLine, 'day'>, other: Pick<KeptLine, 'day'>): boolean =>
  Math.abs(Date.parse(one.day) - Date.parse(other.day)) / DAY_MS > DAYS_APART;

/** The days within which a booking of the days `from` to `to` may stand in another file. */
export const daysAround = (from: string, to: string): [from: string, to: string] => [
  dateIn('UTC', Date.parse(from) - DAYS_APART * DAY_MS),
  dateIn('UTC', Date.parse(to) + DAYS_APART * DAY_MS),
];

/**
 * Whether two booked or pending lines with one fingerprint name different payers or references, or days far apart. The fingerprint of a
 * line without a bank's reference holds its payer, references and day, if it has one.
 */
export function isOtherMoney(known: KeptLine, line: KeptLine): boolean {
  if (!hasReference(line)) return false;
  return isDaysApart(known, line) || namesAlike(known, line) === undefined;
}

function hasReference(line: KeptLine): boolean {
  const { references } = saidOn(line);
  return (references.booking ?? references.bank) !== undefined;
}

/**
 * How many names two lines share; undefined if one of them differs. The payer's name, which banks write in several ways, counts only where
 * nothing else does, and only between lines that are both booked or both pending.
 */
function namesAlike(known: KeptLine, line: KeptLine): number | undefined {
  const [one, other] = [namesOf(known), namesOf(line)];
  const both = one.flatMap((name, i) =>
    name === undefined || other[i] === undefined ? [] : [name === other[i]],
  );
  const [here, there] = [referencesOf(known), referencesOf(line)];
  if (here.length > 0 && there.length > 0) both.push(here.some((text) => there.includes(text)));
  const [payer, otherPayer] = [known, line].map((each) => saidOn(each).counterparty.name);
  if (both.length === 0 && known.booked === line.booked && payer !== undefined && otherPayer !== undefined)
    both.push(isOneName(payer, otherPayer));
  return both.includes(false) ? undefined : both.length;
}

/** Whether two names are one, of which a bank may have cut the end. */
function isOneName(one: string, other: string): boolean {
  const [short, long] = [one, other]
    .map((name) => name.toUpperCase().replaceAll(/[^\p{L}\p{N}]/gu, ''))
    .sort((a, b) => a.length - b.length) as [string, string];
  return namesAgree(one, other) || long.startsWith(short);
}

/** The transfer references in what a line says. */
const referencesOf = (line: KeptLine) => referencesIn(saidOn(line).text);

/** The digest in a fingerprint: lines that a bank's reference does not tell apart have the same one. */
export const digestIn = ({ fingerprint }: Pick<KeptLine, 'fingerprint'>): string =>
  fingerprint.split(':')[0]!;

/** Whether a line has a bank's reference that stands on a line before it in its file as well. */
export const isRepeated = (line: KeptLine): boolean => !line.fingerprint.endsWith(':0') && hasReference(line);

/** The one of `others` that a line is: of several the one with most names in common. `surely`: at least one name is. */
export function sameMoney(
  others: readonly KeptLine[],
  line: KeptLine,
  surely: boolean,
): KeptLine | undefined {
  const same = others.filter((one) => !isOtherMoney(one, line));
  const alike = (one: KeptLine) => namesAlike(one, line) ?? 0;
  const [best] = same.toSorted((a, b) => alike(b) - alike(a));
  return best && (!surely || alike(best) > 0) ? best : undefined;
}

/** The fingerprint of a line whose own is that of other money. */
export function ownFingerprint(line: KeptLine): string {
  const names = [...namesOf(line), ...referencesOf(line), saidOn(line).counterparty.name];
  const own = sha256Hex(JSON.stringify([line.day, ...names.map((name) => name ?? null)]));
  return `${line.fingerprint}~${own.slice(0, 16)}`;
}

/** What every file says alike of one booking, if it says it at all: who paid, and the references of the payer. */
function namesOf(line: KeptLine): (string | undefined)[] {
  const { counterparty, references } = saidOn(line);
  return [counterparty.account, references.endToEnd, references.creditor];
}

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
