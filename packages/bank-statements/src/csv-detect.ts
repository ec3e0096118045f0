// Tells from what stands in a table how it is to be read, and what it does not tell: that is asked, never guessed.
import { contentFit, totalOf } from './csv-columns.ts';
import { csvCurrency, currencyAbove, currencyInName } from './csv-currencies.ts';
import { areEnough } from './csv-headers.ts';
import type {
  CsvChoice,
  CsvColumns,
  CsvRole,
  DateOrder,
  DecimalWord,
  PartialLayout,
  SignWord,
} from './csv-layout.ts';
import { inOrderOf, mergedLayout } from './csv-layout.ts';
import type { CsvSurvey } from './csv-survey.ts';
import type { CsvTable } from './csv-table.ts';
import { statusOf } from './csv-words.ts';
import { hasThousandths, present } from './values.ts';

/** What the bookkeeper has to say before a file can be read. */
export interface CsvQuestion {
  key: CsvChoice | 'columns' | 'currency' | 'status';
  text: string;
  /** The words of the status that are not known. */
  words?: string[];
}

type SurveyedDays = NonNullable<ReturnType<CsvSurvey['days']>>;
type SurveyedAmounts = NonNullable<ReturnType<CsvSurvey['amounts']>>;

/** Columns with amounts. */
const AMOUNTS: readonly CsvRole[] = ['amount', 'debit', 'credit', 'charges'];

/**
 * The layout of a table: what was `chosen`, else what the profile or the file itself says. A member that is missing is asked for in
 * `questions`. `accountCurrency`: of the account, where it has only one.
 */
export function detectLayout(
  table: CsvTable,
  chosen: PartialLayout,
  accountCurrency?: string,
): { layout: PartialLayout; questions: CsvQuestion[] } {
  const { delimiter, quote, names, profile, isNamed } = table;
  const under: PartialLayout = { columns: table.columns, ...profile?.layout };
  const layout = mergedLayout({ ...under, delimiter, quote, columns: { ...table.columns } }, chosen);
  const { columns } = layout;
  const text = table.columns.text ?? [];
  // A known export names its columns: others hold words only where they have no name.
  const others = otherWords(table, { ...columns, text }).filter((name) => !profile || /^#\d+$/.test(name));
  const words = [...text, ...others];
  if (words.length > 0) columns.text = chosen.columns.text ? inOrderOf(words, chosen.columns.text) : words;
  const questions: CsvQuestion[] = [];
  const missing = [...new Set(Object.values(columns).flat())].filter((name) => !names.includes(name));
  if (missing.length > 0)
    questions.push({
      key: 'columns',
      text: `The file has no column "${missing[0]}". It has: ${names.join(', ')}.`,
    });
  const isChosen = areEnough(chosen.columns);
  if (!areEnough(columns) || (!isNamed && !isChosen))
    questions.push({
      key: 'columns',
      text: `Say which column holds what: the names are not known (${names.join(', ')}).`,
    });
  const { survey } = table;
  const places = (...roles: readonly CsvRole[]) =>
    roles.flatMap((role) => (columns[role] ?? []).map((name) => names.indexOf(name)));
  const amountsOf = (...roles: readonly CsvRole[]) =>
    places(...roles).flatMap((place) => survey.amounts(place) ?? []);
  const statuses = [...new Set(places('status').flatMap((place) => survey.words(place)))];
  askForStatuses(layout, statuses, Boolean(profile || chosen.columns.status), questions);
  const currency =
    layout.currency ??
    [columns.amount, columns.credit, columns.debit, columns.balance]
      .map((names) => currencyInName(names?.[0] ?? ''))
      .find((one) => one !== undefined) ??
    currencyAbove(table.preamble) ??
    accountCurrency;
  const amounts = amountsOf(...AMOUNTS);
  const decimal = layout.decimal ?? decimalOf(amounts, amountsOf('balance'), decimalsIn(), questions);
  if (!profile) ownInstead(table, columns, chosen);
  if (!profile) notATotal(table, columns, { chosen, decimal }, questions);
  const days = places('day', 'value').flatMap((place) => survey.days(place) ?? []);
  const found = present({
    dates: layout.dates ?? datesOf(days, questions),
    decimal,
    sign: layout.sign ?? signOf(table, columns, questions),
    currency,
  });
  const hasCurrency = found.currency !== undefined || columns.currency !== undefined;
  const isInCells = () => amountsOf('amount', 'debit', 'credit').some((one) => one.currencies.size > 0);
  if (!hasCurrency && survey.rows > 0 && !isInCells())
    questions.push({ key: 'currency', text: 'Say the currency: the file names none.' });
  return { layout: { ...layout, ...found }, questions };

  /** How many decimals an amount may have, by all currencies of the file. */
  function decimalsIn(): 'none' | 'two' | 'three' {
    const inCells = amounts.flatMap((one) => [...one.currencies]);
    const inColumn = places('currency').flatMap((place) => survey.words(place).map(csvCurrency));
    const found = [currency, ...inColumn, ...inCells].filter((one) => one !== undefined);
    if (found.some(hasThousandths)) return 'three';
    return found.length > 0 && found.every((one) => WITHOUT_DECIMALS.has(one)) ? 'none' : 'two';
  }
}

/** Maximum number of different words in a status column. A column with more, all of them unknown, holds text. */
const STATUS_WORDS_MAXIMUM = 6;

/** Asks what a status means that is not known. A column of texts is none. */
function askForStatuses(
  layout: PartialLayout,
  words: readonly string[],
  isFixed: boolean,
  questions: CsvQuestion[],
): void {
  const unknown = words.filter(
    (word) => statusOf(word) === undefined && layout.statuses?.[word] === undefined,
  );
  if (!isFixed && unknown.length === words.length && words.length > STATUS_WORDS_MAXIMUM) {
    layout.columns.text = [...(layout.columns.text ?? []), ...(layout.columns.status ?? [])];
    delete layout.columns.status;
  } else if (unknown.length > 0) {
    const shown = unknown.slice(0, STATUS_WORDS_MAXIMUM).map((word) => `"${word}"`);
    questions.push({
      key: 'status',
      text: `Say what the status ${shown.join(', ')} means: booked, pending or void.`,
      words: unknown,
    });
  }
}

/** Names of columns that hold the own account if it is the same in every row. */
const ANY_ACCOUNT =
  /^(?:iban|account(?: number)?|konto(?:nummer|[- ]nr\.?)?|conto(?: no\.?)?|compte|cuenta|rekening|rachunek)$/i;

/** An account that is the same in every row is the own one. */
function ownInstead({ names, survey }: CsvTable, columns: CsvColumns, chosen: PartialLayout): void {
  const name = columns.account?.[0] ?? '';
  if (columns.own || chosen.columns.account || !ANY_ACCOUNT.test(name)) return;
  if (!survey.isOneValue(names.indexOf(name))) return;
  columns.own = [name];
  delete columns.account;
}

/** Sees to it that no running total of another column is taken for an amount: it is a balance. */
function notATotal(
  table: CsvTable,
  columns: CsvColumns,
  { chosen, decimal }: { chosen: PartialLayout; decimal: DecimalWord | undefined },
  questions: CsvQuestion[],
): void {
  const { names, sample } = table;
  for (const role of ['amount', 'debit', 'credit'] as const) {
    const name = columns[role]?.[0];
    const place = names.indexOf(name ?? '');
    const total = name === undefined || place < 0 ? undefined : totalOf(sample, place, decimal ?? 'comma');
    if (!total || name === undefined) continue;
    const of = present({ amount: total.amount, debit: total.debit, credit: total.credit });
    const others = Object.values(of).map((one) => names[one]!);
    if (chosen.columns[role]?.includes(name)) {
      const text = `The column "${name}" is the running total of "${others.join('" and "')}": it is a balance and no amount.`;
      questions.push({ key: 'columns', text });
      return;
    }
    for (const one of ['amount', 'debit', 'credit'] as const) delete columns[one];
    columns.balance = [name];
    for (const [one, at] of Object.entries(of)) columns[one as keyof typeof of] = [names[at]!];
    return;
  }
}

/** Unknown columns that hold more than days and amounts. Each may hold a reference. */
function otherWords({ names, survey, sample }: CsvTable, columns: CsvColumns): string[] {
  const taken = Object.values(columns).flat();
  const fits = contentFit(sample);
  return names.filter(
    (name, place) =>
      !taken.includes(name) && survey.isText(place) && (sample.length === 0 || !fits('currency', place)),
  );
}

function datesOf(columns: readonly SurveyedDays[], questions: CsvQuestion[]): DateOrder | undefined {
  let left: DateOrder[] = ['dmy', 'mdy', 'ymd'];
  let example: string | undefined;
  for (const days of columns) {
    const kept = left.filter((order) => days.orders.includes(order));
    if (kept.length < left.length || example === undefined) example = days.example ?? example;
    left = kept;
  }
  if (left.length === 1 || example === undefined || (left.length === 3 && /[A-Za-z]{3}/.test(example)))
    return left[0];
  const text =
    left.length === 0
      ? 'Say the order of day and month: the days of this file stand in different ones.'
      : `Say the order of day, month and year: ${example} can be read in ${left.length === 2 ? 'two' : 'three'} ways.`;
  questions.push({ key: 'dates', text });
  return undefined;
}

/** Currencies without decimals that are written with groups: `12,000` is twelve thousand. */
const WITHOUT_DECIMALS = new Set(['JPY', 'KRW', 'ISK', 'CLP', 'VND', 'PYG', 'XAF', 'XOF', 'XPF']);

/** By the amounts, and by the balances where those do not tell it. */
function decimalOf(
  columns: readonly SurveyedAmounts[],
  balances: readonly SurveyedAmounts[],
  decimals: 'none' | 'two' | 'three',
  questions: CsvQuestion[],
): DecimalWord | undefined {
  const kind = decimals === 'none' ? 'two' : decimals;
  const toldBy = (of: readonly SurveyedAmounts[]) =>
    new Set(of.flatMap((one) => [...one.decimals[kind].told]));
  const told = toldBy(columns).size > 0 ? toldBy(columns) : toldBy(balances);
  const unclear = [...columns, ...balances]
    .flatMap((one) => one.decimals[kind].unclear ?? [])
    .sort((a, b) => a.line - b.line)[0]?.text;
  if (told.size === 1) return [...told][0];
  if (told.size === 2)
    questions.push({ key: 'decimal', text: 'Say the decimal mark: this file has comma and point.' });
  else if (unclear !== undefined && decimals === 'none') return unclear.includes(',') ? 'point' : 'comma';
  else if (unclear !== undefined)
    questions.push({ key: 'decimal', text: `Say the decimal mark: "${unclear}" can be read in two ways.` });
  return undefined;
}

function signOf(
  { names, survey }: CsvTable,
  columns: CsvColumns,
  questions: CsvQuestion[],
): SignWord | undefined {
  const isSplit = Boolean(columns.debit && columns.credit);
  if (!columns.amount) return isSplit ? 'columns' : undefined;
  const amounts = survey.amounts(names.indexOf(columns.amount[0]!));
  const marks = amounts?.marks.get(names.indexOf(columns.mark?.[0] ?? ''));
  const [negative, bracketed] = [amounts?.isNegative ?? false, amounts?.isBracketed ?? false];
  const count = amounts?.count ?? 0;
  const areMarked = count > 0 && (marks?.marked ?? 0) > count / 2;
  const found = [
    negative && 'signed',
    bracketed && 'brackets',
    !negative && !bracketed && areMarked && 'mark',
  ].filter((one) => one !== false);
  if (found.length === 1 && (found[0] === 'mark' || !marks?.differ)) return found[0] as SignWord;
  if (found.length === 0 && isSplit) return 'columns';
  if (found.length === 0 && count === 0) return 'signed';
  const why =
    found.length === 0
      ? 'no amount of this file has a minus, brackets or a mark'
      : found.length > 1
        ? 'this file has amounts with a minus and amounts in brackets'
        : 'this file has amounts with a minus beside marks that say otherwise';
  questions.push({ key: 'sign', text: `Say how money out is marked: ${why}.` });
  return undefined;
}
