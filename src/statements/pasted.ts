// Reads a list that a bookkeeper pastes out of online banking: each row an amount with a reference or a name, and perhaps a day.

import {
  csvAmount,
  csvAmountOfAny,
  csvDay,
  currencyCode,
  type DateOrder,
  type DecimalWord,
  dayOrdersOf,
  decimalsOf,
  ibanOf,
  type LineRead,
  markOf,
  numbered,
  present,
  type Statement,
  type StatementAccount,
  type StatementLine,
} from '#bank-statements';
import { isIban } from '../payments/methods/transfer/payer-account.ts';

/** How a list is read where it does not tell by itself. */
interface PasteOptions {
  dates?: DateOrder | undefined;
  decimal?: DecimalWord | undefined;
  account: StatementAccount;
  currency: string;
  /** What stands in place of a file's name. */
  file: string;
  /** YYYY-MM-DD. The day of lines that have none. */
  today: string;
}

/** A row of the list. `at` counts from 1. */
export interface PastedRow {
  at: number;
  written: string;
  /** What was understood, or why nothing was. */
  line?: StatementLine;
  fault?: string;
}

/** A row taken apart: its cells without amount and days. */
interface Parts {
  amounts: string[];
  days: string[];
  /** Cells, or words of a row that has no columns. */
  rest: string[];
  hasColumns: boolean;
}

/** Three groups of digits, or a month by its name. */
const DAY = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\.?$|^\d{1,2}[ .-]*[A-Za-z]{3,9}[ .-]*\d{2,4}$/;
const DAY_OF_WORDS = /\b\d{1,2}\.? [A-Za-z]{3,9}\.? (?:\d{4}|\d{2})\b/g;
/** Decimals, groups, a sign or a currency beside digits tell an amount from other numbers. */
const AMOUNT = /\d[.,'’]\d|^[-+(\u2212\u2013€£$]|[€£$)]$|^[A-Z]{3} ?\d|\d ?(?:[A-Z]{3}|zł|Kč)$/;
const UNIT = /^(?:€|£|\$|zł|Kč|[A-Z]{3})$/;
/** Debit or credit in a column of its own. Among words such a letter may be an initial. */
const MARK = /^(?:S|H|D|C|DR|CR)$/;
const isUnit = (word: string | undefined) =>
  word !== undefined && UNIT.test(word) && (!/^[A-Z]/.test(word) || currencyCode(word) !== undefined);

const isDay = (word: string) => DAY.test(word) && dayOrdersOf(word).length > 0;
const isNumber = (word: string) => csvAmountOfAny(word) !== undefined;

/** The rows of a text that are not empty, and the statement of what was understood. Nothing that can be read in two ways is guessed. */
export function readPasted(text: string, options: PasteOptions): { rows: PastedRow[]; statement: Statement } {
  const { account, currency, file, today } = options;
  const written = text.split(/\r\n?|\n/).map((row, i) => ({ at: i + 1, written: row.trim() }));
  const rows: PastedRow[] = written.filter((row) => row.written !== '');
  const parts = rows.map((row) => partsOf(row.written));
  const told = {
    decimal:
      options.decimal ??
      only<DecimalWord>(parts.map(({ amounts }) => amounts.flatMap((one) => decimalOf(one, currency)))),
    dates: options.dates ?? only<DateOrder>(parts.map(({ days }) => days.flatMap(orderOf))),
  };
  const read = rows.flatMap((row, i) => {
    const line = lineOf(parts[i]!, row.at, { ...options, ...told });
    if (typeof line !== 'string') return { row, line };
    row.fault = line;
    return [];
  });
  const lines = numbered(
    { account, format: 'pasted' },
    read.map(({ line }) => line),
  );
  for (const [i, line] of lines.entries()) read[i]!.row.line = line;
  return { rows, statement: { format: 'pasted', file, account, to: today, lines, faults: [] } };
}

const decimalOf = (amount: string, currency: string) => {
  const { possible } = decimalsOf(amount, currency);
  return possible.length === 1 ? possible : [];
};
const orderOf = (day: string) => {
  const orders = dayOrdersOf(day);
  return orders.length === 1 ? orders : [];
};
/** What all that tell it say alike. */
function only<Word>(said: readonly (readonly Word[])[]): Word | undefined {
  const words = new Set(said.flat());
  return words.size === 1 ? [...words][0] : undefined;
}

/** Looks for days and amounts among the columns of a row, else among its words. */
function partsOf(row: string): Parts {
  const hasColumns = /\t|;| {2}/.test(row);
  const split = row.includes('\t') ? '\t' : row.includes(';') ? ';' : / {2,}/;
  const cells = row.split(split).map((cell) => cell.trim());
  const found = hasColumns ? taken(cells.filter(Boolean), hasColumns) : undefined;
  if (found && found.amounts.length > 0) return found;
  const days = row.replaceAll(DAY_OF_WORDS, (day) => (isDay(day) ? day.replaceAll(/[. ]+/g, '-') : day));
  return taken(days.split(/[\t; ]+/), false);
}

function taken(cells: readonly string[], hasColumns: boolean): Parts {
  const days = cells.filter(isDay);
  const others = cells.filter((cell) => !isDay(cell));
  const isAmount = (cell: string, i: number) =>
    isNumber(cell) && (AMOUNT.test(cell) || isUnit(others[i - 1]) || isUnit(others[i + 1]));
  let places = others.flatMap((cell, i) => (isAmount(cell, i) ? i : []));
  if (places.length === 0 && hasColumns) places = others.flatMap((cell, i) => (isNumber(cell) ? i : []));
  const used = new Set<number>();
  const amounts = places.map((i) => {
    const isMark = hasColumns && MARK.test(others[i + 1] ?? '');
    const around = [i - 1, i, i + 1].filter((at) => at === i || isUnit(others[at]) || (at > i && isMark));
    for (const at of around) used.add(at);
    // A space may stand between thousands: then the groups are one amount or two numbers.
    const isGroup =
      !hasColumns && /^\d{3}(?:\D|$)/.test(others[i]!) && /^[-+]?\d{1,3}$/.test(others[i - 1] ?? '');
    return (isGroup ? [others[i - 1]!, others[i]!] : around.map((at) => others[at]!)).join(' ');
  });
  return { amounts, days, rest: others.filter((_, i) => !used.has(i)), hasColumns };
}

/** The line of a row, or a sentence that says why there is none. */
function lineOf(
  { amounts, days, rest, hasColumns }: Parts,
  at: number,
  { currency, dates, decimal }: PasteOptions,
): LineRead | string {
  const [written, other] = amounts;
  if (written === undefined) return 'It has no amount. Write it with decimals: 120.00.';
  if (other !== undefined) return `It has two amounts, ${written} and ${other}. Leave one of them.`;
  if (!hasColumns && /^[-+]?\d{1,3} \d{3}\D/.test(written))
    return `“${written}” is one amount or two numbers. Write the amount without a space.`;
  const { possible, asks } = decimalsOf(written, currency);
  if (asks && decimal === undefined)
    return `“${written}” can be read in two ways: choose the decimal separator.`;
  const amount = csvAmount(written, possible.length === 1 ? possible[0] : decimal, currency);
  if (!amount) return `“${written}” is no amount.`;
  if (amount.minor === 0 && amount.beyond === undefined) return 'Its amount is zero.';
  if (amount.currency !== undefined && amount.currency !== currency)
    return `It is in ${amount.currency}, the account in ${currency}.`;
  const read = days.slice(0, 2).map((day) => {
    const orders = dayOrdersOf(day);
    const order = orders.length === 1 || /[A-Za-z]/.test(day) ? orders[0] : dates;
    return order === undefined ? undefined : csvDay(day, order);
  });
  if (read.includes(undefined))
    return `${days[read.indexOf(undefined)]} can be read in two ways: say the order of day and month.`;
  const isOut = amount.isNegative || amount.isBracketed || markOf(amount.mark) === 'debit';
  return {
    at,
    ...present({ bookingDay: read[0], valueDay: read[1], beyond: amount.beyond }),
    amountMinor: amount.minor,
    currency,
    direction: isOut ? 'debit' : 'credit',
    status: 'booked',
    isReversal: false,
    references: {},
    ...wordsOf(rest, hasColumns),
  };
}

/** The other side's account, its name, and everything else as text. */
function wordsOf(rest: readonly string[], hasColumns: boolean): Pick<LineRead, 'text' | 'counterparty'> {
  const account = rest.map(ibanOf).find((iban) => iban !== undefined && isIban(iban));
  const others = rest.filter((cell) => account === undefined || ibanOf(cell) !== account);
  const isName = (cell: string) => /\p{L}{2}/u.test(cell) && !/\d/.test(cell);
  const name = hasColumns ? others.find(isName) : others.filter((word) => !/\d/.test(word)).join(' ');
  const text = hasColumns ? others.filter((cell) => cell !== name).join('\n') : others.join(' ');
  return { text, counterparty: present({ name: name || undefined, account }) };
}
