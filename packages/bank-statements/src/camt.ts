// Reads CAMT.052, 053 and 054 (ISO 20022) in versions 02 to 13, entry by entry.
import { balanceWarnings, signedAmount } from './balance.ts';
import { dayText, entryLines, type Said, signOf, statusCode, xmlAmount } from './camt-entry.ts';
import { ElementCount } from './counts.ts';
import { LineNumbering, type LineRead } from './fingerprint.ts';
import type { KnownAccount } from './known-account.ts';
import type {
  Balance,
  Statement,
  StatementAccount,
  StatementFault,
  StatementFormat,
  StatementLine,
  TakeLine,
} from './statement.ts';
import { folded, hundredths, ibanOf, isoDay, present, referenceOf } from './values.ts';
import { all, at, readXml, textAt, type XmlElement } from './xml.ts';

/** The element of one account's statement, in each of the three messages. */
const FORMATS: Readonly<Record<string, StatementFormat>> = {
  Rpt: 'camt.052',
  Stmt: 'camt.053',
  Ntfctn: 'camt.054',
};
const WANTED = new Set([...Object.keys(FORMATS), 'Ntry']);

/** The balances that a sum of entries begins and ends with, each with the one that stands for it on other pages. */
const OPENING = ['OPBD', 'PRCD'];
const CLOSING = ['CLBD'];

/** The statement that is being read. */
interface Running extends Said {
  format: StatementFormat;
  /** Its element so far. */
  element: XmlElement;
  /** Booked entries, credits positive; undefined once an entry could not be read. */
  sumMinor: bigint | undefined;
  /** Of all entries and of the booked ones, for the sums of the summary. */
  totals: Record<'credit' | 'debit', { all: bigint; booked: bigint }>;
  /** Where the first line in each currency stands. */
  currencies: Map<string, number>;
  numbering: LineNumbering | undefined;
  /** Lines that cannot be told apart yet: the account or a day may stand below them. */
  waiting: LineRead[];
  /** Entries, and the lines of them. */
  entries: number;
  count: number;
  known: KnownAccount;
  take: (line: StatementLine) => void;
}

/**
 * Reads all statements of a file, and hands their lines to `take`. Entries of none of them are a fault. Throws `StatementRefused` for XML
 * that is not well-formed.
 */
export function readCamt(
  pieces: Iterable<string>,
  file: string,
  known: KnownAccount,
  take: TakeLine,
): Statement[] {
  const statements: Statement[] = [];
  const counted = new ElementCount('Ntry');
  let running: Running | undefined;
  let read = 0;
  readXml(
    counted.over(pieces),
    WANTED,
    (element) => {
      if (element.name === 'Ntry' && running) {
        read++;
        running.entries++;
        addEntry(running, element);
      } else if (element.name !== 'Ntry' && running) {
        statements.push(statementOf(element, file, running));
        running = undefined;
      }
    },
    (element) => {
      const format = FORMATS[element.name];
      if (!format) return;
      const place = statements.length;
      running = {
        ...{
          format,
          element,
          faults: [],
          notes: [],
          sumMinor: 0n,
          totals: { credit: { all: 0n, booked: 0n }, debit: { all: 0n, booked: 0n } },
          currencies: new Map(),
          waiting: [],
          entries: 0,
          count: 0,
        },
        numbering: undefined,
        known,
        take: (line) => take(line, place),
      };
    },
  );
  const lost = counted.fault('entries (Ntry)', read);
  if (lost) statements[0]?.faults.push(lost);
  return statements;
}

/** Whether a line has a day that its fingerprint can be made of. */
const isDated = ({ status, bookingDay, valueDay }: LineRead) =>
  status === 'pending' || (bookingDay ?? valueDay) !== undefined;

function addLine(running: Running, line: LineRead): void {
  const { format, element, currencies, waiting, known } = running;
  running.count++;
  if (!currencies.has(line.currency)) currencies.set(line.currency, line.at);
  if (!running.numbering && at(element, 'Acct'))
    running.numbering = new LineNumbering({ account: known.accountOr(accountOf(element)), format });
  if (running.numbering && waiting.length === 0 && isDated(line)) running.take(running.numbering.next(line));
  else waiting.push(line);
}

function accountOf(element: XmlElement): StatementAccount {
  const account = at(element, 'Acct');
  const iban = ibanOf(textAt(account, 'Id/IBAN'));
  const other = iban ? undefined : referenceOf(textAt(account, 'Id/Othr/Id', 'Id/PrtryAcct/Id', 'Id/IBAN'));
  return present({ iban, other });
}

/** Days of an entry. */
const DAYS = [
  ['BookgDt', 'booking day'],
  ['ValDt', 'value day'],
] as const;

function addEntry(running: Running, entry: XmlElement): void {
  const amount = xmlAmount(at(entry, 'Amt'));
  const sign = signOf(entry);
  if (!amount || !sign) {
    running.sumMinor = undefined;
    const what = amount
      ? `"${textAt(entry, 'CdtDbtInd') ?? ''}" is neither CRDT nor DBIT`
      : `the amount "${textAt(entry, 'Amt') ?? ''} ${at(entry, 'Amt')?.attributes.Ccy ?? ''}" cannot be read`;
    running.faults.push({ line: entry.line, text: `This entry is left out: ${what}.` });
    return;
  }
  const status = statusOf(entry, running);
  for (const [name, kind] of DAYS) {
    const written = dayText(entry, name);
    if (written !== undefined && isoDay(written) === undefined)
      running.notes.push({
        line: entry.line,
        text: `The ${kind} "${written}" of this entry cannot be read.`,
      });
  }
  const total = running.totals[sign];
  total.all += BigInt(amount.minor);
  if (status === 'booked') total.booked += BigInt(amount.minor);
  if (status === 'booked' && running.sumMinor !== undefined)
    running.sumMinor += BigInt(sign === 'credit' ? amount.minor : -amount.minor);
  for (const line of entryLines(entry, amount, { direction: sign, status }, running)) addLine(running, line);
}

/** `PDNG`, `INFO` and `FUTR` never match. A camt.053 holds booked entries, so an entry of it without a status is one. */
function statusOf(entry: XmlElement, { format, faults, notes }: Running): StatementLine['status'] {
  const code = statusCode(entry)?.toUpperCase();
  if (code === 'BOOK' || code === 'BOOKED') return 'booked';
  if (code !== undefined && ['PDNG', 'PENDING', 'INFO', 'FUTR'].includes(code)) return 'pending';
  if (code === undefined && format === 'camt.053') {
    notes.push({
      line: entry.line,
      text: 'This entry has no status (Sts). As one of camt.053 it is booked.',
    });
    return 'booked';
  }
  const what =
    code === undefined ? 'has no status (Sts)' : `has the status "${statusCode(entry)}", which is not known`;
  faults.push({ line: entry.line, text: `This entry ${what}: it is read as pending.` });
  return 'pending';
}

function statementOf(element: XmlElement, file: string, running: Running): Statement {
  const { format, faults, notes, sumMinor, currencies, waiting } = running;
  const [opening, closing] = balancesOf(element, running);
  const account = {
    ...running.known.accountOr(accountOf(element)),
    ...present({ currency: currencyOf(element, opening) }),
  };
  const { currency } = account;
  const from = isoDay(textAt(element, 'FrToDt/FrDtTm', 'FrToDt/FrDt'));
  const to = isoDay(textAt(element, 'FrToDt/ToDtTm', 'FrToDt/ToDt'));
  const number = referenceOf(textAt(element, 'LglSeqNb', 'ElctrncSeqNb', 'Id'));
  if (!account.iban && !account.other)
    faults.push({ line: element.line, text: 'The statement names no account.' });
  const strange = [...currencies].find(([one]) => currency !== undefined && one !== currency);
  if (strange)
    faults.push({ line: strange[1], text: `The line is in ${strange[0]}, the account in ${currency}.` });
  const told = Number(textAt(element, 'TxsSummry/TtlNtries/NbOfNtries')) || 0;
  // Some banks count entries there, and others transactions.
  if (told > Math.max(running.entries, running.count))
    faults.push({
      line: element.line,
      text: `The statement holds ${told} entries by its summary (TxsSummry), but shows ${running.entries}.`,
    });
  const closingLine = all(element, 'Bal').at(-1)?.line ?? element.line;
  const sum = strange ? undefined : sumMinor;
  notes.unshift(...balanceWarnings(opening, closing, sum, closingLine, running.count));
  if (sumMinor !== undefined && !strange) notes.unshift(...summaryWarnings(element, running.totals));
  const day = to ?? closing?.day;
  running.numbering ??= new LineNumbering({ account, format });
  const text = 'This entry is left out: neither it nor its statement names a day that can be read.';
  for (const line of waiting)
    if (isDated(line) || day !== undefined) running.take(running.numbering.next(line));
    else faults.push({ line: line.at, text });
  return {
    format,
    file,
    account,
    ...present({ number, from, to, opening, closing }),
    lines: [],
    faults,
    ...(notes.length > 0 && { notes }),
  };
}

/** Warnings about sums of the summary (TxsSummry) that the entries do not come to. */
function summaryWarnings(element: XmlElement, { credit, debit }: Running['totals']): StatementFault[] {
  const both = (sign: bigint) =>
    (['all', 'booked'] as const).map((which) => credit[which] + sign * debit[which]);
  const sums: Record<string, bigint[]> = {
    TtlCdtNtries: [credit.all, credit.booked],
    TtlDbtNtries: [debit.all, debit.booked],
    // Some banks write the net amount there.
    TtlNtries: [...both(1n), ...both(-1n), ...both(-1n).map((net) => -net)],
  };
  return Object.entries(sums).flatMap(([name, possible]) => {
    const written = at(element, `TxsSummry/${name}/Sum`);
    const told = hundredths(written?.text.trim().replace(/^[+-]/, '') ?? '', '.');
    if (!written || told === undefined || possible.includes(BigInt(told))) return [];
    const text = `The summary says ${signedAmount(told)} (${name}), but the entries come to ${signedAmount(possible[0]!)}.`;
    return [{ line: written.line, text, warning: true as const }];
  });
}

const currencyOf = (element: XmlElement, opening: Balance | undefined) =>
  folded(textAt(at(element, 'Acct'), 'Ccy')) ?? opening?.currency;

/** A balance, without a sign if the file gives none. */
type BalanceRead = Balance & { line: number; isSigned: boolean };

/** Opening and closing balance. One without a sign (`CdtDbtInd`) gets the one with which the entries lead from one to the other. */
function balancesOf(element: XmlElement, said: Running): [Balance | undefined, Balance | undefined] {
  const [opening, closing] = [balanceOf(element, OPENING, said), balanceOf(element, CLOSING, said)];
  const signs = (one: BalanceRead | undefined) =>
    !one ? [undefined] : one.isSigned ? [one.minor] : [one.minor, -one.minor];
  const fitting = signs(opening)
    .flatMap((from) => signs(closing).map((to) => [from, to] as const))
    .filter(
      ([from, to]) =>
        from === undefined || to === undefined || BigInt(from) + (said.sumMinor ?? 0n) === BigInt(to),
    );
  const of = (one: BalanceRead | undefined, place: 0 | 1): Balance | undefined => {
    if (!one) return undefined;
    const { line, isSigned, ...balance } = one;
    if (isSigned) return balance;
    const found = opening && closing && fitting.length === 1 ? fitting[0]![place] : undefined;
    const what = found === undefined ? 'so it is left out' : 'which the entries tell';
    said.notes.push({ line, text: `The balance has no sign (CdtDbtInd), ${what}.` });
    return found === undefined ? undefined : { ...balance, minor: found };
  };
  return [of(opening, 0), of(closing, 1)];
}

function balanceOf(element: XmlElement, kinds: readonly string[], { faults }: Said): BalanceRead | undefined {
  const balance = kinds
    .map((kind) =>
      all(element, 'Bal').find(
        (one) => textAt(one, 'Tp/CdOrPrtry/Cd', 'Tp/CdOrPrtry/Prtry', 'Tp/Cd') === kind,
      ),
    )
    .find((one) => one !== undefined);
  if (!balance) return undefined;
  const figure = at(balance, 'Amt');
  const isMinus = figure?.text.trim().startsWith('-') ?? false;
  const amount = xmlAmount(figure && { ...figure, text: figure.text.trim().replace(/^-/, '') });
  const written = textAt(balance, 'CdtDbtInd');
  // A minus stands for the sign, or beside one that says the same.
  const sign = signOf(balance) ?? (isMinus && written === undefined ? 'debit' : undefined);
  if (!amount || (!sign && written !== undefined) || (isMinus && sign === 'credit')) {
    const what =
      amount && !isMinus
        ? `"${written}" is neither CRDT nor DBIT`
        : `its amount "${textAt(balance, 'Amt') ?? ''} ${at(balance, 'Amt')?.attributes.Ccy ?? ''}"`;
    faults.push({ line: balance.line, text: `The balance cannot be read: ${what}.` });
    return undefined;
  }
  return {
    minor: sign === 'debit' && amount.minor !== 0 ? -amount.minor : amount.minor,
    currency: amount.currency,
    ...present({ day: isoDay(textAt(balance, 'Dt/Dt', 'Dt/DtTm')) }),
    line: balance.line,
    isSigned: sign !== undefined,
  };
}
