// Reads CAMT.052, 053 and 054 (ISO 20022) in versions 02 to 13, entry by entry.
import { balanceFaults } from './balance.ts';
import { entryLines, signOf, statusOf, xmlAmount } from './camt-entry.ts';
import { type LineRead, numbered } from './fingerprint.ts';
import type { Balance, Statement, StatementFault, StatementFormat } from './statement.ts';
import { folded, ibanOf, isoDay, present, referenceOf } from './values.ts';
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

/** Entries of the statement that is being read. */
interface Running {
  lines: LineRead[];
  faults: StatementFault[];
  /** Booked entries, credits positive; undefined once an entry could not be read. */
  sumMinor: bigint | undefined;
}

/** Reads all statements of a file. Throws `StatementRefused` for XML that is not well-formed. */
export function readCamt(pieces: Iterable<string>, file: string): Statement[] {
  const statements: Statement[] = [];
  let running: Running | undefined;
  readXml(
    pieces,
    WANTED,
    (element) => {
      if (element.name === 'Ntry' && running) addEntry(running, element);
      else if (element.name !== 'Ntry' && running) {
        statements.push(statementOf(element, file, running));
        running = undefined;
      }
    },
    ({ name }) => {
      if (name in FORMATS) running = { lines: [], faults: [], sumMinor: 0n };
    },
  );
  return statements;
}

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
  if (statusOf(entry) === 'booked' && running.sumMinor !== undefined)
    running.sumMinor += BigInt(sign === 'credit' ? amount.minor : -amount.minor);
  running.lines.push(...entryLines(entry, amount, sign, running.faults));
}

function statementOf(element: XmlElement, file: string, { lines, faults, sumMinor }: Running): Statement {
  const format = FORMATS[element.name]!;
  const account = at(element, 'Acct');
  const iban = ibanOf(textAt(account, 'Id/IBAN'));
  const other = iban ? undefined : referenceOf(textAt(account, 'Id/Othr/Id', 'Id/PrtryAcct/Id', 'Id/IBAN'));
  const [opening, closing] = [balanceOf(element, OPENING, faults), balanceOf(element, CLOSING, faults)];
  const currency = folded(textAt(account, 'Ccy')) ?? opening?.currency;
  const from = isoDay(textAt(element, 'FrToDt/FrDtTm', 'FrToDt/FrDt'));
  const to = isoDay(textAt(element, 'FrToDt/ToDtTm', 'FrToDt/ToDt'));
  const number = referenceOf(textAt(element, 'LglSeqNb', 'ElctrncSeqNb', 'Id'));
  const what = { iban, other, currency };
  if (!iban && !other) faults.push({ line: element.line, text: 'The statement names no account.' });
  const strange = lines.find((line) => currency !== undefined && line.currency !== currency);
  if (strange)
    faults.push({
      line: strange.at,
      text: `The line is in ${strange.currency}, the account in ${currency}.`,
    });
  const closingLine = all(element, 'Bal').at(-1)?.line ?? element.line;
  faults.push(...balanceFaults(opening, closing, strange ? undefined : sumMinor, closingLine));
  const day = to ?? closing?.day;
  const isDated = (line: LineRead) =>
    line.status === 'pending' || (line.bookingDay ?? line.valueDay ?? day) !== undefined;
  const undated = lines.filter((line) => !isDated(line));
  const text = 'This entry is left out: neither it nor its statement names a day that can be read.';
  faults.push(...undated.map((line) => ({ line: line.at, text })));
  return {
    format,
    file,
    account: present(what),
    ...present({ number, from, to, opening, closing }),
    lines: numbered({ account: present(what), format }, lines.filter(isDated)),
    faults,
  };
}

function balanceOf(
  element: XmlElement,
  kinds: readonly string[],
  faults: StatementFault[],
): Balance | undefined {
  const balance = kinds
    .map((kind) => all(element, 'Bal').find((one) => textAt(one, 'Tp/CdOrPrtry/Cd') === kind))
    .find((one) => one !== undefined);
  if (!balance) return undefined;
  const amount = xmlAmount(at(balance, 'Amt'));
  const sign = signOf(balance);
  if (!amount || !sign) {
    faults.push({ line: balance.line, text: 'The balance cannot be read.' });
    return undefined;
  }
  const day = isoDay(textAt(balance, 'Dt/Dt', 'Dt/DtTm'));
  return {
    minor: sign === 'debit' && amount.minor !== 0 ? -amount.minor : amount.minor,
    currency: amount.currency,
    ...present({ day }),
  };
}
