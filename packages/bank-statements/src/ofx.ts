// Reads OFX 1 and 2 (Open Financial Exchange, section 11): statements of bank accounts and credit cards.
import { countFault } from './counts.ts';
import { csvAmount, decimalsOf } from './csv-values.ts';
import { type LineRead, numbered } from './fingerprint.ts';
import type { KnownAccount } from './known-account.ts';
import { type OfxElement, ofxRoot, within } from './ofx-elements.ts';
import { StatementRefused } from './refusal.ts';
import type { Balance, Statement, StatementFault } from './statement.ts';
import {
  currencyCode,
  cutToHundredths,
  dayOf,
  folded,
  ibanOf,
  present,
  referenceOf,
  withoutGroups,
} from './values.ts';
import { at, textAt } from './xml.ts';

/** Whether the beginning of a text is that of an OFX file. */
export const isOfx = (head: string): boolean => /^\s*OFXHEADER:|<\?OFX\b|<OFX>/i.test(head);

/** Booked and pending ones. They are taken wherever they stand in a statement. */
const TRANSACTIONS = ['STMTTRN', 'STMTTRNP'];
/** Transactions as they are counted. */
const TRANSACTION = /<STMTTRNP?(?=[\s>/])/gi;

/** Kinds of transactions that are money out. A bank that takes one back writes them without a minus. */
const MONEY_OUT = new Set(['DEBIT', 'CHECK', 'FEE', 'SRVCHG', 'ATM', 'DIRECTDEBIT']);

/** All statements of a file. Throws `StatementRefused` if there is none. */
export function readOfx(text: string, file: string, known: KnownAccount): Statement[] {
  const root = ofxRoot(text);
  const found = within(root, 'STMTRS', 'CCSTMTRS');
  const investment = within(root, 'INVSTMTRS')[0];
  if (found.length === 0 && investment)
    throw new StatementRefused('The file is a statement of securities, which is not read.', investment.line);
  if (found.length === 0) throw new StatementRefused('The file holds no statement of an account or a card.');
  const read = found.map((one) => statementOf(one, file, known));
  const lines = found.flatMap((one) => within(one, ...TRANSACTIONS));
  const lost = countFault('transactions (STMTTRN)', text.match(TRANSACTION)?.length ?? 0, lines.length);
  if (lost) read[0]!.faults.push(lost);
  if (!/<\/OFX\s*>/i.test(text))
    read.at(-1)!.faults.push({
      line: lines.at(-1)?.line ?? 0,
      text: 'The file ends too early, because </OFX> is missing: fetch it again.',
    });
  return read;
}

function statementOf(element: OfxElement, file: string, known: KnownAccount): Statement {
  const faults: StatementFault[] = [];
  const own = known.accountOr(accountOf(element));
  const currency = currencyCode(textAt(element, 'CURDEF')) ?? known.currencyOf(own);
  if (currency === undefined)
    faults.push({ line: element.line, text: 'The statement names no currency, so its lines are left out.' });
  const account = { ...own, ...present({ currency }) };
  if (!account.iban && !account.other)
    faults.push({ line: element.line, text: 'The statement names no account.' });
  const lists = within(element, 'BANKTRANLIST', 'BANKTRANLISTP');
  const lines =
    currency === undefined
      ? []
      : within(element, ...TRANSACTIONS).flatMap((one) => lineOf(one, currency, faults) ?? []);
  const notes: StatementFault[] = [];
  const areSigned = lines.some(({ direction }) => direction === 'debit');
  for (const { at: line, direction, amountMinor, code } of lines)
    if (direction === 'credit' && amountMinor > 0 && MONEY_OUT.has(code ?? ''))
      (areSigned ? notes : faults).push({
        line,
        text: `This transaction is a ${code}, but its amount has no minus: it is read as money in.`,
      });
  return {
    format: 'ofx',
    file,
    account,
    ...present({
      from: ofxDay(textAt(lists[0], 'DTSTART')),
      to: ofxDay(textAt(lists[0], 'DTEND')),
      closing: currency === undefined ? undefined : closingOf(element, currency, { faults, notes }),
    }),
    lines: numbered({ account, format: 'ofx' }, lines),
    faults,
    ...(notes.length > 0 && { notes }),
  };
}

/** `50070010/0123456` of bank code and account, or the account alone; an IBAN where the account is one. */
function accountOf(element: OfxElement): Statement['account'] {
  const from = at(element, 'BANKACCTFROM') ?? at(element, 'CCACCTFROM');
  const number = referenceOf(textAt(from, 'ACCTID'));
  const iban = ibanOf(number);
  const bank = referenceOf(textAt(from, 'BANKID'));
  const other = bank === undefined || number === undefined ? number : `${bank}/${number}`;
  return present({ iban, other: iban === undefined ? other : undefined });
}

/** The day as the bank writes it: `20261120120000.000[-5:EST]`. No time zone moves it. */
function ofxDay(text: string | undefined): string | undefined {
  const [, year, month, day] =
    /^\s*(\d{4})[-/.]?(\d\d)[-/.]?(\d\d)(?:\d{4}|\d{6}|(?!\d))/.exec(text ?? '') ?? [];
  return year === undefined ? undefined : dayOf(Number(year), Number(month), Number(day));
}

/** Hundredths with their sign, of `-12.50`, `+12,5`. Undefined for what cannot be read. */
function signedHundredths(text: string | undefined, currency: string): ReturnType<typeof cutToHundredths> {
  const [, sign, written] = /^\s*([+-]?)\s*([\d.,]*\d[\d.,]*)\s*$/.exec(text ?? '') ?? [];
  const number = written === undefined ? undefined : withoutGroups(written);
  if (number === undefined) return { minor: decoratedHundredths(text ?? ''), beyond: undefined };
  const { minor, beyond } = cutToHundredths(number, number.includes(',') ? ',' : '.', currency);
  return { minor: minor === undefined || sign !== '-' ? minor : -minor, beyond };
}

/** Hundredths of an amount with groups of digits, a currency, brackets or a minus behind it, where it can be read in one way. */
function decoratedHundredths(text: string): number | undefined {
  const { possible, asks } = decimalsOf(text);
  const read = asks || possible.length === 0 ? undefined : csvAmount(text, possible[0]);
  if (!read || read.mark !== undefined) return undefined;
  return read.isNegative || read.isBracketed ? -read.minor : read.minor;
}

function closingOf(
  element: OfxElement,
  currency: string,
  { faults, notes }: Record<'faults' | 'notes', StatementFault[]>,
): Balance | undefined {
  const ledger = within(element, 'LEDGERBAL')[0];
  if (!ledger) return undefined;
  const written = textAt(ledger, 'BALAMT');
  if (written === undefined) {
    notes.push({ line: ledger.line, text: 'The closing balance (LEDGERBAL) is empty.' });
    return undefined;
  }
  const { minor } = signedHundredths(written, currency);
  if (minor === undefined) {
    faults.push({ line: ledger.line, text: `The closing balance "${written}" cannot be read.` });
    return undefined;
  }
  return { minor, currency, ...present({ day: ofxDay(textAt(ledger, 'DTASOF')) }) };
}

/** Undefined, with a fault, for a transaction that cannot be read, and for one that takes back an earlier one. */
function lineOf(element: OfxElement, currency: string, faults: StatementFault[]): LineRead | undefined {
  const { line } = element;
  const leaveOut = (why: string) => {
    faults.push({ line, text: `This transaction is left out: ${why}.` });
    return undefined;
  };
  const written = textAt(element, 'TRNAMT');
  const own = textAt(element, 'CURRENCY/CURSYM');
  const ownCurrency = own === undefined ? currency : currencyCode(own);
  if (ownCurrency === undefined) return leaveOut(`the currency "${own}" is not known`);
  const { minor, beyond } = signedHundredths(written, ownCurrency);
  if (minor === undefined) return leaveOut(`the amount "${written ?? ''}" cannot be read`);
  const corrected = textAt(element, 'CORRECTFITID');
  if (corrected !== undefined)
    return leaveOut(
      `it corrects the transaction ${corrected} of an earlier statement, which has to be looked at`,
    );
  const posted = textAt(element, 'DTPOSTED', 'DTTRAN');
  const bookingDay = ofxDay(posted);
  const isPending = element.name === 'STMTTRNP';
  if (bookingDay === undefined && !isPending) return leaveOut(`its day "${posted ?? ''}" cannot be read`);
  const account = textAt(element, 'BANKACCTTO/ACCTID', 'CCACCTTO/ACCTID');
  const words = [textAt(element, 'MEMO'), textAt(element, 'EXTDNAME')].map(folded);
  const name = folded(textAt(element, 'NAME', 'PAYEE/NAME'));
  return {
    at: line,
    ...present({ bookingDay, valueDay: ofxDay(textAt(element, 'DTAVAIL')) }),
    amountMinor: Math.abs(minor),
    currency: ownCurrency,
    direction: minor < 0 ? 'debit' : 'credit',
    status: isPending ? 'pending' : 'booked',
    isReversal: false,
    references: present({
      bank: referenceOf(textAt(element, 'FITID')),
      owner: referenceOf(textAt(element, 'REFNUM', 'CHECKNUM')),
    }),
    text: words.filter((one) => one !== undefined).join('\n'),
    counterparty: present({ name, account: ibanOf(account) ?? referenceOf(account) }),
    ...present({ code: folded(textAt(element, 'TRNTYPE')), beyond }),
  };
}
