// The preview of CSV files: how each was read, its first lines, and fields that say it otherwise.

import {
  CSV_CHOICES,
  CSV_ROLES,
  CSV_STATUSES,
  type CsvChoice,
  type CsvRole,
  type CsvSeen,
  ENCODINGS,
  type Statement,
  type StatementLine,
  thousandsMark,
} from '#bank-statements';
import { filterChoice, type SelectChoices } from '../../administrators/pages/filters.ts';
import { type Faults, literal, notice, said, field as textField } from '../../administrators/pages/parts.ts';
import { attributes, type Html, hidden, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { accountNumber, accountText } from '../../review/pages/panel.ts';
import { dayInWords } from '../../review/told.ts';
import { records } from '../../web/markup/table.ts';
import type { ReadFile } from '../read-beside.ts';
import type { ToldLines } from '../told-lines.ts';
import { csvField, type Upload, wordsOf } from './csv-form.ts';
import { faultItems, type StatementContext, saidOrDash, signedMoney } from './statement-page.ts';

/** A CSV file that is to be looked at. */
export interface CsvPreview extends Upload {
  read: ReadFile;
  /** The file as the form sends it again. */
  content: string;
}

const FAULTS_SHOWN = 10;
const LABELS: Record<CsvChoice, string> = {
  dates: phrase('Date format'),
  decimal: phrase('Decimal separator'),
  sign: phrase('Money out is marked by'),
  delimiter: phrase('Columns are separated by'),
  quote: phrase('Text is quoted with'),
};

const seenOf = ({ read }: CsvPreview): CsvSeen => read.csv![0]!;

/** What has to be answered, by the field that answers it. */
export function previewFaults({ say }: StatementContext, previews: readonly CsvPreview[]): Faults {
  const faults: Record<string, string> = {};
  for (const [index, preview] of previews.entries()) {
    const { questions, account } = seenOf(preview);
    for (const { key, text } of questions) faults[csvField(index, key)] ??= text;
    if (preview.said !== undefined && preview.said.account === undefined && Object.keys(account).length === 0)
      faults[csvField(index, 'account')] = say`Choose the account: the file does not name it`;
  }
  return faults;
}

/** The fields of every file. */
export function previewFields(
  context: StatementContext,
  previews: readonly CsvPreview[],
  faults: Faults,
): Html {
  return html`${previews.map((preview, index) => previewOf(context, preview, index, faults))}`;
}

function previewOf(context: StatementContext, preview: CsvPreview, index: number, faults: Faults): Html {
  const { say } = context;
  const { name, content, read } = preview;
  const seen = seenOf(preview);
  const field = (what: string) => csvField(index, what);
  const none = seen.questions.length > 0 ? say`Choose` : say`The file does not need it`;
  const choice = (key: CsvChoice) => {
    const [chosen, words] = [seen.layout[key], wordsOf(say, CSV_CHOICES[key])];
    return select(
      context,
      field(key),
      say.of(LABELS[key]),
      words,
      chosen,
      faults,
      chosen === undefined ? none : null,
    );
  };
  const wrong = read.statements.flatMap((one) => one.faults);
  const [encodings, said] = [ENCODINGS.map((one) => [one, one] as const), preview.said?.encoding];
  const encoding = select(context, field('encoding'), say`Encoding`, encodings, said, {}, say`Recognise it`);
  const count = read.told.reduce((sum, { overview }) => sum + overview.lines, 0);
  return html`<section class="block" aria-labelledby="${field('heading')}"><h2 id="${field('heading')}">${literal(name)}</h2>
${hidden({
  ...{ [field('name')]: name, [field('content')]: content },
  [field('delimiter-before')]: seen.layout.delimiter ?? '',
  [field('quote-before')]: seen.layout.quote ?? '',
})}<p>${readAs(context, seen)}</p>
<div class="filters"><div class="fields">${accountChoice(context, preview, index, faults)}${choice('dates')}${choice('decimal')}${choice('sign')}${textField(
    {
      name: field('currency'),
      label: say`Currency, where a line names none`,
      value: seen.layout.currency,
      fault: faults[field('currency')],
      attributes: { maxlength: '3', autocapitalize: 'characters' },
    },
  )}${choice('delimiter')}${choice('quote')}${statusChoices(context, preview, index, faults)}${encoding}</div></div>
${columnTable(context, seen, index, faults)}
<h3>${say`How its lines are read`}</h3>
${count === 0 ? html`<p>${noLines(context, seen)}</p>` : read.statements.map((one, i) => lineTable(context, one, read.told[i]!))}
${wrong.length > 0 && notice(faultItems(context, wrong, FAULTS_SHOWN), 'warn')}</section>
`;
}

const noLines = ({ say }: StatementContext, { questions }: CsvSeen) =>
  questions.length > 0
    ? say`They are shown once the questions above are answered.`
    : say`The file has no lines.`;

function readAs(
  { say }: StatementContext,
  { profile, isRemembered, headerLine, layout, sample }: CsvSeen,
): Html {
  const groups = thousandsMark(sample.flat(), layout.decimal);
  const how =
    profile === undefined
      ? html`${say`Recognised by its content`}`
      : say.html`Recognised as an export of ${html`<strong>${profile}</strong>`}`;
  const where =
    headerLine === undefined ? say`no column headings` : say`column headings in line ${headerLine}`;
  return html`${how}: ${where}${groups && html`, ${say`thousands with “${groups}”`}`}. ${
    isRemembered
      ? say`You confirmed this before.`
      : say`Check whether this is right: it is remembered for the account.`
  }`;
}

function accountChoice(context: StatementContext, preview: CsvPreview, index: number, faults: Faults): Html {
  const { offer, say } = context;
  const { account } = seenOf(preview);
  const id = csvField(index, 'account');
  const named = account.iban ?? account.other;
  if (named !== undefined)
    return html`<div class="field"><span>${say`Account`}</span><span>${accountNumber(named)}</span></div>`;
  const accounts = offer.settings.flatMap(({ accounts }) =>
    accounts.map(({ iban, holder, rows }) => {
      const value = iban?.replaceAll(' ', '') ?? (rows ?? []).map((row) => row.value).join('/');
      return [value, `${holder}: ${accountText(value)}`] as const;
    }),
  );
  return select(context, id, say`Account`, accounts, preview.said?.account, faults, say`Choose`);
}

/** A row for each column: its name, what stands in it, and what it holds. */
function columnTable(
  context: StatementContext,
  { names, sample, layout }: CsvSeen,
  index: number,
  faults: Faults,
): Html {
  const { say } = context;
  const roleOf = (name: string) =>
    Object.entries(layout.columns).find(([, held]) => held.includes(name))?.[0];
  const fault = faults[csvField(index, 'columns')];
  const rows = names.map((name, place) => ({
    name,
    sample: [...new Set(sample.map((cells) => cells[place] ?? '').filter((cell) => cell !== ''))].slice(0, 2),
    role: roleOf(name),
  }));
  return html`<h3 id="${csvField(index, 'columns')}" tabindex="-1">${say`What the columns hold`}</h3>
${fault && html`<p class="error">${fault}</p>`}${records<(typeof rows)[number]>(
  [
    [say`Column`, ({ name }) => said(name)],
    [
      say`For example`,
      ({ sample }) => html`${sample.map((cell) => html`<div>${said(cell.slice(0, 60))}</div>`)}`,
    ],
    [say`Holds`, ({ name, role }) => roleSelect(context, csvField(index, `column-${name}`), name, role)],
  ],
  rows,
)}`;
}

function roleSelect({ say }: StatementContext, id: string, column: string, role: string | undefined): Html {
  const options = (Object.entries(CSV_ROLES) as [CsvRole, string][]).map(
    ([value, label]) =>
      html`<option${attributes({ value, selected: value === role })}>${say.of(label)}</option>`,
  );
  return html`<select${attributes({ name: id, 'aria-label': say`What ${column} holds` })}><option value="">${say`Not read`}</option>${options}</select>`;
}

/** A field for each word of the status that is not known. */
function statusChoices({ say }: StatementContext, preview: CsvPreview, index: number, faults: Faults): Html {
  const { questions, layout } = seenOf(preview);
  const words = questions.find(({ key }) => key === 'status')?.words ?? [];
  const options = wordsOf(say, CSV_STATUSES);
  const fields = [...new Set([...words, ...Object.keys(layout.statuses ?? {})])].map((word, place) => {
    const id = csvField(index, place === 0 ? 'status' : `status-${place}`);
    const [name, chosen] = [csvField(index, `status-${word}`), layout.statuses?.[word]];
    return filterChoice(say, name, say`“${word}” means`, options, chosen, faults[id], id, say`Choose`);
  });
  return html`${fields}`;
}

/** A choice whose field has its name as its id. */
const select = (
  { say }: StatementContext,
  id: string,
  label: string,
  options: SelectChoices,
  chosen: string | undefined,
  faults: Faults,
  none: string | null,
): Html => filterChoice(say, id, label, options, chosen, faults[id], id, none);

/** Sums, and the first, last and largest line: what shows at a glance that something is read wrongly. */
function lineTable(context: StatementContext, statement: Statement, told: ToldLines): Html {
  const { say } = context;
  const { lines, pending, creditMinor, debitMinor, reachedMinor, shown } = told.overview;
  const { account, closing } = statement;
  const currency = account.currency ?? told.first?.currency ?? '';
  const sum = (minor: bigint | number) => signedMoney(context, Number(minor), currency);
  const day = ({ bookingDay, valueDay }: StatementLine) => {
    const written = bookingDay ?? valueDay;
    return written === undefined ? '–' : dayInWords(written, say);
  };
  const amount = ({ direction, amountMinor, currency }: StatementLine) =>
    signedMoney(context, direction === 'debit' ? -amountMinor : amountMinor, currency);
  const closingText =
    closing &&
    html`, ${say.html`closing balance ${sum(closing.minor)}`}${reachedMinor === BigInt(closing.minor) && `, ${say`which the lines add up to`}`}`;
  return html`<p>${say.count(lines, '{n} line', '{n} lines')}${pending > 0 && `, ${say`${pending} pending`}`}: ${say.html`money in ${sum(creditMinor)}, money out ${sum(debitMinor)}`}${closingText}.</p>
${records<(typeof shown)[number]>(
  [
    [say`Line`, ({ what }) => what.split(', ').map(say.of).join(', ')],
    [say`Day`, ({ line }) => day(line)],
    [say`Amount`, ({ line }) => amount(line), 'number'],
    [say`Other side`, ({ line: { counterparty } }) => saidOrDash(counterparty.name ?? counterparty.account)],
    [say`Text`, ({ line: { text } }) => saidOrDash(text)],
  ],
  shown,
)}`;
}
