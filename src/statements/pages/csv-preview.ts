// The preview of CSV files: how each was read, its first lines, and fields that say it otherwise.

import {
  CSV_CHOICES,
  CSV_ROLES,
  CSV_STATUSES,
  type CsvChoice,
  type CsvRole,
  type CsvSeen,
  ENCODINGS,
  overviewOf,
  type ReadStatements,
  type Statement,
  type StatementLine,
  thousandsMark,
} from '#bank-statements';
import { filterChoice, filterField } from '../../administrators/pages/filters.ts';
import { type Faults, literal, notice, said } from '../../administrators/pages/parts.ts';
import { counted } from '../../lib/counted.ts';
import { attributes, type Html, html } from '../../lib/html.ts';
import { records } from '../../web/markup/table.ts';
import type { StatementContext } from './context.ts';
import { csvField, type Upload } from './csv-form.ts';

/** A CSV file that is to be looked at. */
export interface CsvPreview extends Upload {
  read: ReadStatements;
  /** The file as the form sends it again. */
  content: string;
}

const FAULTS_SHOWN = 10;
const LABELS: Record<CsvChoice, string> = {
  dates: 'Days are written',
  decimal: 'The mark of cents',
  sign: 'Money out is marked by',
  delimiter: 'Columns are separated by',
  quote: 'Texts stand in',
};

const seenOf = ({ read }: CsvPreview): CsvSeen => read.csv![0]!;

/** What has to be answered, by the field that answers it. */
export function previewFaults(previews: readonly CsvPreview[]): Faults {
  const faults: Record<string, string> = {};
  for (const [index, preview] of previews.entries()) {
    const { questions, account } = seenOf(preview);
    for (const { key, text } of questions) faults[csvField(index, key)] ??= text;
    if (preview.said !== undefined && preview.said.account === undefined && Object.keys(account).length === 0)
      faults[csvField(index, 'account')] = 'Choose the account: the file does not name it';
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
  const { name, content, read } = preview;
  const seen = seenOf(preview);
  const hidden = {
    name,
    content,
    'delimiter-before': seen.layout.delimiter,
    'quote-before': seen.layout.quote,
  };
  const field = (what: string) => csvField(index, what);
  const none = seen.questions.length > 0 ? 'Choose' : 'The file does not need it';
  const choice = (key: CsvChoice) => {
    const [id, chosen] = [field(key), seen.layout[key]];
    const words = Object.entries(CSV_CHOICES[key]);
    return filterChoice(id, LABELS[key], words, chosen, faults[id], id, chosen === undefined ? none : null);
  };
  const count = read.statements.reduce((sum, one) => sum + one.lines.length, 0);
  return html`<section class="block" aria-labelledby="${field('heading')}"><h2 id="${field('heading')}">${literal(name)}</h2>
${Object.entries(hidden).map(
  ([what, value]) => html`<input${attributes({ type: 'hidden', name: field(what), value })}>`,
)}<p>${readAs(seen)}</p>
<div class="filters"><div class="fields">${accountChoice(context, preview, index, faults)}${choice('dates')}${choice('decimal')}${choice('sign')}${filterField(
    field('currency'),
    'Currency, where a line names none',
    seen.layout.currency,
    faults[field('currency')],
    { maxlength: '3', autocapitalize: 'characters' },
    field('currency'),
  )}${choice('delimiter')}${choice('quote')}${statusChoices(preview, index, faults)}${encodingChoice(preview, index)}</div></div>
${columnTable(seen, index, faults)}
<h3>How its lines are read</h3>
${count === 0 ? html`<p>${noLines(seen)}</p>` : read.statements.map((one) => lineTable(context, one))}
${faultList(read)}</section>
`;
}

const noLines = ({ questions }: CsvSeen) =>
  questions.length > 0 ? 'They are shown once the questions above are answered.' : 'The file has no lines.';

function readAs({ profile, isRemembered, headerLine, layout, sample }: CsvSeen): Html {
  const groups = thousandsMark(sample.flat(), layout.decimal);
  const how =
    profile === undefined
      ? html`Read by what stands in it`
      : html`Read as an export of <strong>${profile}</strong>`;
  const where = headerLine === undefined ? 'no names of columns' : `names of columns in line ${headerLine}`;
  return html`${how}: ${where}${groups && html`, thousands with “${groups}”`}. ${
    isRemembered ? 'You confirmed it before.' : 'Look whether it is right: it is remembered for the account.'
  }`;
}

function accountChoice(
  { offer }: StatementContext,
  preview: CsvPreview,
  index: number,
  faults: Faults,
): Html {
  const { account } = seenOf(preview);
  const id = csvField(index, 'account');
  const named = account.iban ?? account.other;
  if (named !== undefined)
    return html`<div class="field"><span>Account</span><span>${literal(named)}</span></div>`;
  const accounts = offer.settings.flatMap(({ accounts }) =>
    accounts.map(({ iban, holder, rows }) => {
      const value = iban?.replaceAll(' ', '') ?? (rows ?? []).map((row) => row.value).join('/');
      return [value, `${holder}: ${iban ?? value}`] as const;
    }),
  );
  const chosen = preview.said?.account;
  return filterChoice(id, 'Account', accounts, chosen, faults[id], id, 'Choose');
}

/** A row for each column: its name, what stands in it, and what it holds. */
function columnTable({ names, sample, layout }: CsvSeen, index: number, faults: Faults): Html {
  const roleOf = (name: string) =>
    Object.entries(layout.columns).find(([, held]) => held.includes(name))?.[0];
  const fault = faults[csvField(index, 'columns')];
  const rows = names.map((name, place) => ({
    name,
    sample: [...new Set(sample.map((cells) => cells[place] ?? '').filter((cell) => cell !== ''))].slice(0, 2),
    role: roleOf(name),
  }));
  return html`<h3 id="${csvField(index, 'columns')}" tabindex="-1">What the columns hold</h3>
${fault && html`<p class="error">${fault}</p>`}${records<(typeof rows)[number]>(
  [
    ['Column', ({ name }) => said(name)],
    [
      'For example',
      ({ sample }) => html`${sample.map((cell) => html`<div>${said(cell.slice(0, 60))}</div>`)}`,
    ],
    ['Holds', ({ name, role }) => roleSelect(csvField(index, `column-${name}`), name, role)],
  ],
  rows,
)}`;
}

function roleSelect(id: string, column: string, role: string | undefined): Html {
  const options = (Object.entries(CSV_ROLES) as [CsvRole, string][]).map(
    ([value, label]) => html`<option${attributes({ value, selected: value === role })}>${label}</option>`,
  );
  return html`<select${attributes({ name: id, 'aria-label': `What ${column} holds` })}><option value="">Not read</option>${options}</select>`;
}

/** A field for each word of the status that is not known. */
function statusChoices(preview: CsvPreview, index: number, faults: Faults): Html {
  const { questions, layout } = seenOf(preview);
  const words = questions.find(({ key }) => key === 'status')?.words ?? [];
  const fields = [...new Set([...words, ...Object.keys(layout.statuses ?? {})])].map((word, place) => {
    const id = csvField(index, place === 0 ? 'status' : `status-${place}`);
    const options = Object.entries(CSV_STATUSES);
    const name = csvField(index, `status-${word}`);
    return filterChoice(name, `“${word}” means`, options, layout.statuses?.[word], faults[id], id, 'Choose');
  });
  return html`${fields}`;
}

function encodingChoice({ said }: CsvPreview, index: number): Html {
  const id = csvField(index, 'encoding');
  const options = ENCODINGS.map((one) => [one, one] as const);
  return filterChoice(id, 'Encoding', options, said?.encoding, undefined, id, 'As the file tells');
}

/** Sums, and the first, last and largest line: what shows at a glance that something is read wrongly. */
function lineTable({ money }: StatementContext, statement: Statement): Html {
  const { lines, pending, creditMinor, debitMinor, reachedMinor, shown } = overviewOf(statement);
  const { account, closing } = statement;
  const currency = account.currency ?? statement.lines[0]?.currency ?? '';
  const sum = (minor: bigint) =>
    html`<bdi>${minor < 0n && '−'}${money(Number(minor < 0n ? -minor : minor), currency)}</bdi>`;
  const day = ({ bookingDay, valueDay }: StatementLine) => bookingDay ?? valueDay ?? '–';
  const amount = ({ direction, amountMinor, currency }: StatementLine) =>
    html`<bdi>${direction === 'debit' && '−'}${money(amountMinor, currency)}</bdi>`;
  const closingText =
    closing &&
    html`, closing balance ${sum(BigInt(closing.minor))}${reachedMinor === BigInt(closing.minor) && ', which the lines come to'}`;
  return html`<p>${counted(lines, 'line')}${pending > 0 && `, ${pending} pending`}: money in ${sum(creditMinor)}, money out ${sum(debitMinor)}${closingText}.</p>
${records<(typeof shown)[number]>(
  [
    ['Line', ({ what }) => what],
    ['Day', ({ line }) => day(line)],
    ['Amount', ({ line }) => amount(line), 'number'],
    ['Other side', ({ line: { counterparty } }) => said(counterparty.name ?? counterparty.account ?? '–')],
    ['Text', ({ line: { text } }) => said(text === '' ? '–' : text)],
  ],
  shown,
)}`;
}

function faultList({ statements }: ReadStatements): Html | false {
  const faults = statements.flatMap((one) => one.faults);
  if (faults.length === 0) return false;
  const shown = faults.slice(0, FAULTS_SHOWN);
  return notice(
    html`<ul>${shown.map(({ line, text }) => html`<li>${line > 0 && `Line ${line}: `}${text}</li>\n`)}</ul>
${faults.length > shown.length && html`<p>${faults.length - shown.length} more.</p>`}`,
    'warn',
  );
}
