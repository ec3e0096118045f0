// What a bank line says of the payment it is for: references in every form, identifiers, and the payer's name and account.

import type { StatementLine } from '#bank-statements';
import { timeOrderedFloor } from '../../lib/ids.ts';
import { searchedName, searchedReference } from '../../lib/search-terms.ts';
import {
  idRangeOf,
  idRangeOfStart,
  referencesIn,
} from '../../payments/methods/transfer/creditor-reference.ts';
import { PAYMENT_ID_PREFIX } from '../../payments/payment.ts';
import { rfWindows, runsIn, startsIn } from '../../review/meaning.ts';
import { exactMinor, type KeptLine, type LineDetails, saidOn } from '../kept.ts';
import type { BACK_BY } from './matrix-words.ts';

/** A line as it is matched: amounts in hundredths as `exactMinor` gives them, `day` as YYYY-MM-DD. */
export type BankLine = Pick<
  KeptLine,
  'id' | 'day' | 'amount_minor' | 'currency' | 'direction' | 'booked' | 'reversal'
> &
  LineDetails;

/** A debit that takes money back, and what it is known by. */
export interface TakenBack {
  by: keyof typeof BACK_BY;
  line: BankLine;
}

/** A line of the store as it is matched. */
export const bankLine = (row: KeptLine): BankLine => ({
  ...row,
  ...saidOn(row),
  amount_minor: exactMinor(row),
});

/** A line of a file that is not imported as it is matched. `id` is what the proposals name it by. */
export function unkeptLine(line: StatementLine, id: string): BankLine {
  return {
    ...line,
    id,
    day: line.bookingDay ?? line.valueDay ?? '',
    amount_minor: exactMinor({ ...line, amount_minor: line.amountMinor }),
    booked: line.status === 'booked' ? 1 : 0,
    reversal: line.isReversal ? 1 : 0,
  };
}

/** Payment ids from `low` to before `high`, one of which may have the reference. */
export interface ReferenceRange {
  /** The reference as the line has it, or as it should be. Upper case without spaces. */
  reference: string;
  /** `corrected`: with one character other than in the line. `cut`: the beginning of a reference. */
  form: 'whole' | 'corrected' | 'cut';
  low: string;
  high: string;
}

/** What a line gives to look up. */
export interface LineEvidence {
  /** Whole references with right check digits. */
  ranges: ReferenceRange[];
  /** References that were cut or have one character wrong: for a line none of whose whole references is a payment's. */
  nearRanges(): ReferenceRange[];
  /** Payment ids in the text. */
  ids: string[];
  /** Words and fields that may be a merchant's reference. */
  references: string[];
  /** The payer's account, and the name as `searchedName` writes it. */
  account: string | undefined;
  name: string | undefined;
}

/** The least that is taken for a merchant's reference inside a text. */
const REFERENCE_MINIMUM = 4;
/** Characters of an end-to-end reference that may tell a credit by the debit that takes it back. */
const END_TO_END_MINIMUM = 6;
/** Words of one line that are looked up. */
const REFERENCES_MAXIMUM = 40;
/** References of one line that are tried with one character changed. */
const CORRECTED_MAXIMUM = 4;
/** The lengths of a creditor reference with one character right, missing or too many, where words touch it. */
const NEAR_LENGTHS = [19, 18, 20];
/** With and without `RF`, one character less or more. */
const NEARLY = /^(?:RF[0-9A-Z]{16,18}|[0-9A-Z]{16,18})$/;
const NEARLY_QR = /^\d{26,28}$/;
/** For so long the first three characters of a time-ordered id stay the same: 32^7 milliseconds. */
const STARTS_CHANGE_MS = 32 ** 7;
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Whether a line may be the money of a payment: a booked credit that was not reversed. */
export const mayMatch = ({ direction, booked, reversal, amount_minor }: BankLine): boolean =>
  direction === 'credit' && booked === 1 && reversal === 0 && amount_minor > 0;

/** Whether a line takes money out: a debit, as the reversal of a credit is one. */
export const isOutgoing = ({ direction, amount_minor }: BankLine): boolean =>
  direction === 'debit' && amount_minor > 0;

/** The end-to-end reference of a line as it is compared; undefined if it is too short to tell a transfer. */
export function endToEndOf({ references: { endToEnd = '' } }: BankLine): string | undefined {
  const written = searchedReference(endToEnd);
  return written.length >= END_TO_END_MINIMUM ? written : undefined;
}

/** Reads a line. `prefixes` are what the bookkeeper writes before references, such as `INV-`. */
export function evidenceOf(line: BankLine, prefixes: readonly string[] = []): LineEvidence {
  const { counterparty } = line;
  const all = textsOf(line, prefixes);
  return {
    ranges: wholeRanges(all),
    nearRanges: () => nearRangesIn(all, line.day),
    ids: [...all.join('\n').matchAll(/pay_[0-9a-z]{36}/gi)].map(
      ([id]) => PAYMENT_ID_PREFIX + id.slice(PAYMENT_ID_PREFIX.length).toLowerCase(),
    ),
    references: wordsIn(all, prefixes),
    account: counterparty.account === undefined ? undefined : searchedReference(counterparty.account),
    name: counterparty.name === undefined ? undefined : searchedName(counterparty.name),
  };
}

/** The whole references that a line carries, as `evidenceOf` has them. */
export const referencesOn = (line: BankLine, prefixes: readonly string[] = []): ReferenceRange[] =>
  wholeRanges(textsOf(line, prefixes));

/** The words of a line that may be a merchant's reference, as `evidenceOf` has them. */
export const wordsOn = (line: BankLine, prefixes: readonly string[] = []): string[] =>
  wordsIn(textsOf(line, prefixes), prefixes);

/** What the bank and the payer wrote on a line, with line breaks and without. */
function textsOf({ references, text }: BankLine, prefixes: readonly string[]): string[] {
  const fields = [references.creditor, references.endToEnd, references.owner, references.entry, text];
  const texts = fields
    .filter((one) => one !== undefined)
    .flatMap((one) => [one, one.replaceAll('\n', '')])
    .map((one) => withoutPrefixes(one, prefixes));
  return [...new Set(texts)];
}

const wholeRanges = (texts: readonly string[]) => {
  const references = new Set(texts.flatMap(referencesIn));
  return [...references].flatMap((one) => rangeOf(one, 'whole', idRangeOf(one)));
};

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

function withoutPrefixes(text: string, prefixes: readonly string[]): string {
  if (prefixes.length === 0) return text;
  return text.replaceAll(
    new RegExp(`(?<![0-9A-Za-z])(?:${prefixes.map(escaped).join('|')})(?=[0-9A-Za-z])`, 'gi'),
    ' ',
  );
}

function nearRangesIn(texts: readonly string[], day: string): ReferenceRange[] {
  const words = texts.map((text) => text.replaceAll(/[-./]/g, ' '));
  const runs = new Set([...words.flatMap(runsIn), ...texts.flatMap((text) => rfWindows(text, NEAR_LENGTHS))]);
  const likeliest = [...runs]
    .filter(nearlyOurs(day))
    .toSorted((a, b) => Number(b.startsWith('RF')) - Number(a.startsWith('RF')));
  const starts = new Set(words.flatMap(startsIn));
  return [
    ...likeliest.slice(0, CORRECTED_MAXIMUM).flatMap(correctedRanges),
    ...[...starts].flatMap((start) => rangeOf(start, 'cut', idRangeOfStart(start))),
  ];
}

/**
 * Whether a text may be a reference of ours but for one character. References begin with the moment of creation, whose first three
 * characters stay the same for 397 days: two of them must stand where they belong. `day` is the line's.
 */
function nearlyOurs(day: string): (run: string) => boolean {
  const at = Date.parse(day);
  // Without a day only what begins as a creditor reference is tried.
  if (Number.isNaN(at)) return (run) => run.startsWith('RF') && NEARLY.test(run);
  const starts = [at, at - STARTS_CHANGE_MS].map((ms) => timeOrderedFloor('', ms).slice(0, 3).toUpperCase());
  return (run) => {
    if (NEARLY_QR.test(run)) return run.startsWith('00');
    if (!NEARLY.test(run)) return false;
    const offset = run.startsWith('RF') ? 4 : 2;
    return starts.some((start) =>
      [offset - 1, offset, offset + 1].some(
        (place) => [...start].filter((letter, i) => run[place + i] === letter).length >= 2,
      ),
    );
  };
}

function rangeOf(
  reference: string,
  form: ReferenceRange['form'],
  range: [low: string, high: string] | undefined,
): ReferenceRange[] {
  return range ? [{ reference, form, low: range[0], high: range[1] }] : [];
}

/** The references one character away whose check digits are right: another character, one less, one more, or two exchanged. */
function correctedRanges(run: string): ReferenceRange[] {
  const letters = NEARLY_QR.test(run) ? ALPHABET.slice(0, 10) : ALPHABET;
  const near = new Set<string>();
  for (let at = 0; at <= run.length; at++) {
    const [before, after] = [run.slice(0, at), run.slice(at)];
    for (const letter of letters) {
      near.add(before + letter + after);
      near.add(before + letter + after.slice(1));
    }
    near.add(before + after.slice(1));
    near.add(before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2));
  }
  return [...near].flatMap((one) => rangeOf(one, 'corrected', idRangeOf(one)));
}

/** Words with a digit, and whole fields: what a merchant may call a payment. */
function wordsIn(texts: readonly string[], prefixes: readonly string[]): string[] {
  const words = texts.flatMap((text) => [text, ...text.split(/[\s+:;,/|]+/)]);
  const bare = words.map((word) => word.trim().replace(/^[#(]+|[.)]+$/g, ''));
  const found = bare.filter(
    (word) => word.length >= REFERENCE_MINIMUM && word.length <= 255 && /\d/.test(word),
  );
  const withPrefix = found.flatMap((word) => prefixes.map((prefix) => prefix + word));
  return [...new Set([...found, ...withPrefix])].slice(0, REFERENCES_MAXIMUM);
}
