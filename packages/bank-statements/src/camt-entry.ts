// Reads one entry (`Ntry`) of a CAMT message: one line, or one for each of its transactions.
import type { LineRead } from './fingerprint.ts';
import type { StatementFault, StatementLine } from './statement.ts';
import { currencyCode, cutToHundredths, folded, ibanOf, isoDay, present, referenceOf } from './values.ts';
import { all, at, textAt, type XmlElement } from './xml.ts';

interface Amount {
  minor: number;
  currency: string;
  beyond?: string;
}
type Direction = StatementLine['direction'];

/** An amount element with its currency; undefined if either cannot be read. */
export function xmlAmount(element: XmlElement | undefined): Amount | undefined {
  const currency = currencyCode(element?.attributes.Ccy);
  const { minor, beyond } = cutToHundredths(element?.text.trim().replace(/^\+/, '') ?? '', '.', currency);
  return minor === undefined || currency === undefined
    ? undefined
    : { minor, currency, ...(beyond !== undefined && { beyond }) };
}

export function signOf(element: XmlElement): Direction | undefined {
  const sign = textAt(element, 'CdtDbtInd')?.toUpperCase();
  return sign === 'CRDT' ? 'credit' : sign === 'DBIT' ? 'debit' : undefined;
}

/** The day in an element as it is written. */
export const dayText = (element: XmlElement, name: string): string | undefined =>
  textAt(element, `${name}/Dt`, `${name}/DtTm`, name);

/** What the entry says of its status: `BOOK`, `PDNG`, `INFO`, `FUTR`. */
export const statusCode = (entry: XmlElement): string | undefined =>
  textAt(entry, 'Sts/Cd', 'Sts/Prtry', 'Sts');

/** What `entryLines` adds to. */
export interface Said {
  faults: StatementFault[];
  notes: StatementFault[];
}

/**
 * The lines of an entry. Transactions become lines of their own if each has an amount in the entry's currency. Adds a fault if their
 * sum and the charges do not give the entry's amount, and if an amount cannot be read; a note if transactions stay together.
 */
export function entryLines(
  entry: XmlElement,
  amount: Amount,
  { direction, status }: Pick<StatementLine, 'direction' | 'status'>,
  { faults, notes }: Said,
): LineRead[] {
  const details = all(entry, 'NtryDtls').flatMap((one) => all(one, 'TxDtls'));
  const amounts = details.map((detail) => transactionAmount(detail, amount.currency));
  const isSplit = details.length > 1 && amounts.every((one) => one !== undefined);
  if (!isSplit) {
    const charges = (details.length === 1 && chargesOf(details[0]!)) || chargesOf(entry);
    const together = togetherText(entry, details, amounts);
    if (together?.isFault) faults.push({ line: entry.line, text: together.text });
    else if (together) notes.push({ line: entry.line, text: together.text });
    return [{ ...lineOf(entry, details, amount, direction, charges, false), status }];
  }
  const said = transactionsSaid(entry);
  if (said > details.length)
    notes.push({
      line: entry.line,
      text: `This entry stands for ${said} transactions, of which the file shows ${details.length}.`,
    });
  const lines = details.map((detail, i) => ({
    ...lineOf(entry, [detail], amounts[i]!, signOf(detail) ?? direction, chargesOf(detail), true),
    status,
    partOf: { minor: amount.minor, lines: details.length },
  }));
  const sum = lines.reduce(
    (all, one) => all + (one.direction === direction ? one.amountMinor : -one.amountMinor),
    0,
  );
  const charges = lines.reduce((all, one) => all + (one.chargesMinor ?? 0), chargesOf(entry) ?? 0);
  // A credit arrives less the charges; a debit takes them as well.
  const difference = direction === 'credit' ? sum - amount.minor : amount.minor - sum;
  const slack = [amount, ...lines].some(({ beyond }) => beyond !== undefined) ? lines.length : 0;
  if (Math.abs(difference) > slack && difference !== charges)
    faults.push({ line: entry.line, text: 'The transactions of this entry do not add up to its amount.' });
  return lines;
}

/** Where a transaction may have its amount. */
const AMOUNTS = ['Amt', 'AmtDtls/TxAmt/Amt', 'AmtDtls/CntrValAmt/Amt', 'AmtDtls/InstdAmt/Amt'];

/** The first amount of a transaction in a currency. */
const transactionAmount = (detail: XmlElement, currency: string): Amount | undefined =>
  AMOUNTS.map((path) => xmlAmount(at(detail, path))).find((one) => one?.currency === currency);

/** How many transactions an entry stands for, as it says of its batches; 0 if it does not. */
const transactionsSaid = (entry: XmlElement): number =>
  all(entry, 'NtryDtls').reduce((sum, one) => sum + (Number(textAt(one, 'Btch/NbOfTxs')) || 0), 0);

/** The reason to keep an entry's transactions as one line; undefined if there is none. `isFault`: an amount is unreadable. */
function togetherText(
  entry: XmlElement,
  details: readonly XmlElement[],
  amounts: readonly (Amount | undefined)[],
): { text: string; isFault: boolean } | undefined {
  const said = transactionsSaid(entry);
  if (details.length < 2)
    return said > Math.max(1, details.length)
      ? { text: `This entry stands for ${said} transactions, which the file does not show.`, isFault: false }
      : undefined;
  const lacking = details.filter((_, i) => amounts[i] === undefined);
  const unread = lacking
    .map((detail) => at(detail, 'Amt'))
    .find((one) => one !== undefined && xmlAmount(one) === undefined);
  const why = unread
    ? `the amount "${unread.text}" cannot be read`
    : `${lacking.length} of them have no amount in its currency`;
  return {
    text: `The ${details.length} transactions of this entry stay one line: ${why}.`,
    isFault: unread !== undefined || lacking.length < details.length,
  };
}

/** The sum of all charges; undefined if there are none, or one cannot be read. */
function chargesOf(element: XmlElement): number | undefined {
  const charges = all(element, 'Chrgs');
  const amounts = charges.flatMap((one) => [
    ...all(one, 'Amt'),
    ...all(one, 'Rcrd').flatMap((record) => all(record, 'Amt')),
  ]);
  const total = amounts.length === 0 ? charges.flatMap((one) => all(one, 'TtlChrgsAndTaxAmt')) : amounts;
  const minors = total.map((one) => cutToHundredths(one.text, '.', one.attributes.Ccy).minor);
  if (minors.some((minor) => minor === undefined)) return undefined;
  return minors.reduce<number>((sum, minor) => sum + minor!, 0) || undefined;
}

function lineOf(
  entry: XmlElement,
  details: readonly XmlElement[],
  amount: Amount,
  direction: Direction,
  chargesMinor: number | undefined,
  isPart: boolean,
): LineRead {
  const [detail] = details;
  const structured = details.flatMap((one) => all(at(one, 'RmtInf'), 'Strd'));
  const creditors = structured
    .map((one) => referenceOf(textAt(one, 'CdtrRefInf/Ref')))
    .filter((one) => one !== undefined);
  const booking = referenceOf(textAt(entry, 'AcctSvcrRef'));
  const words = [
    ...details.flatMap((one) => all(at(one, 'RmtInf'), 'Ustrd').map(({ text }) => text)),
    ...creditors.slice(1),
    ...structured.flatMap((one) => all(one, 'AddtlRmtInf').map(({ text }) => text)),
    ...details.map((one) => textAt(one, 'AddtlTxInf')),
    isPart ? undefined : textAt(entry, 'AddtlNtryInf'),
  ];
  const isReversal =
    /^(?:true|1)$/.test(textAt(entry, 'RvslInd') ?? '') ||
    details.some((one) => at(one, 'RtrInf') !== undefined);
  return {
    at: (isPart && detail ? detail : entry).line,
    ...present({
      bookingDay: isoDay(dayText(entry, 'BookgDt')),
      valueDay: isoDay(dayText(entry, 'ValDt')),
    }),
    amountMinor: amount.minor,
    currency: amount.currency,
    direction,
    status: 'booked',
    isReversal,
    references: present({
      creditor: creditors[0],
      endToEnd: referenceOf(textAt(detail, 'Refs/EndToEndId')),
      mandate: referenceOf(textAt(detail, 'Refs/MndtId')),
      bank: referenceOf(textAt(detail, 'Refs/AcctSvcrRef')) ?? booking,
      booking,
      entry: referenceOf(textAt(entry, 'NtryRef')),
    }),
    text: words
      .map(folded)
      .filter((one) => one !== undefined)
      .join('\n'),
    counterparty: counterpartyOf(detail, direction, isReversal),
    ...present({ code: codeOf(detail) ?? codeOf(entry), chargesMinor, beyond: amount.beyond }),
  };
}

/** Who stands on the other side: the debtor of a credit. A reversal keeps the parties of what it reverses. */
function counterpartyOf(detail: XmlElement | undefined, direction: Direction, isReversal: boolean) {
  const isDebtor = (direction === 'credit') !== isReversal;
  const [party, other] = isDebtor ? ['Dbtr', 'UltmtDbtr'] : ['Cdtr', 'UltmtCdtr'];
  const parties = at(detail, 'RltdPties');
  const id = (name: string) => textAt(parties, `${name}/Id/IBAN`, `${name}/Id/Othr/Id`);
  const name = [party!, other!]
    .flatMap((one) => [`${one}/Nm`, `${one}/Pty/Nm`, `${one}/Agt/FinInstnId/Nm`])
    .map((path) => textAt(parties, path))
    .find((one) => one !== undefined);
  const account = id(`${party}Acct`);
  return present({ name: folded(name), account: ibanOf(account) ?? referenceOf(account) });
}

function codeOf(element: XmlElement | undefined): string | undefined {
  const code = at(element, 'BkTxCd');
  const domain = [textAt(code, 'Domn/Cd'), textAt(code, 'Domn/Fmly/Cd'), textAt(code, 'Domn/Fmly/SubFmlyCd')];
  const parts = domain.filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join('-') : folded(textAt(code, 'Prtry/Cd'));
}
