// The report of an account over some days, as a page and as a file; and lines as a file, told in the history before the first byte.
import type { Readable } from 'node:stream';
import { askedOf, dayFields, filterBar, filterChoice } from '../../administrators/pages/filters.ts';
import { type Faults, hasFaults, literal, notice, rows, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { dateIn, dayBounds } from '../../lib/time.ts';
import { accountNumber, accountText, addressOfPayment } from '../../review/pages/panel.ts';
import { dayInWords } from '../../review/told.ts';
import { records } from '../../web/markup/table.ts';
import {
  EXPORT_TYPES,
  type ExportFormat,
  SEPARATOR_NAMES,
  type Separator,
  separatorOf,
} from '../../web/row-writer.ts';
import { type Money, signedSum } from '../balance-queries.ts';
import { lineSums } from '../line-queries.ts';
import { linesStream, type ReportLine, reportLines, reportStream } from '../matching/lines-export.ts';
import { type BookedDay, balanceSentence, type Period, periodOf } from '../period.ts';
import {
  amountColumn,
  dayColumn,
  dayOn,
  linkBack,
  pageBelow,
  STATE_NAMES,
  STATEMENTS_PATH,
  type StatementContext,
  saidOrDash,
  signedMoney,
} from './statement-page.ts';

export const REPORT_PATH = `${STATEMENTS_PATH}/report`;
const TEXT_MAXIMUM = 100;
const ASKED = ['account', 'from', 'to'] as const;
/** Lines on the page; a file has them all. */
const LINES_SHOWN = 1000;
const TITLE = phrase('Report of an account');
const SEPARATOR_LABELS: Record<Separator, string> = {
  comma: phrase('Commas'),
  semicolon: phrase('Semicolons'),
  tab: phrase('Tabs'),
};

/** An account in one currency as an address names it: `DE75512108001245126199 EUR`. */
export const accountName = ({ account, currency }: Money): string => `${account} ${currency}`;

/** The accounts that have lines, each with its newest day. */
async function accountsOf({
  database,
}: StatementContext): Promise<Map<string, Money & { last_day: string }>> {
  const accounts = new Map<string, Money & { last_day: string }>();
  for (const { account, currency, last_day } of await lineSums(database)) {
    const name = accountName({ account, currency });
    const before = accounts.get(name)?.last_day ?? '';
    accounts.set(name, { account, currency, last_day: last_day > before ? last_day : before });
  }
  return accounts;
}

export async function reportPage(context: StatementContext): Promise<Outcome> {
  const { database, query, say } = context;
  const accounts = await accountsOf(context);
  const asked = askedOf(query, ASKED, TEXT_MAXIMUM);
  const chosen = asked.account ?? accounts.keys().next().value;
  const money = chosen === undefined ? undefined : accounts.get(chosen);
  const month = money && money.last_day !== '' ? money.last_day.slice(0, 8) : undefined;
  const { from = month && `${month}01`, to = money?.last_day } = asked;
  const faults = faultsOf(context, { from, to });
  const isAsked = money !== undefined && from && to && !hasFaults(faults);
  const fields = html`${filterChoice(
    say,
    'account',
    say`Account`,
    [...accounts].map(([name, one]) => [name, `${accountText(one.account)} ${one.currency}`] as const),
    chosen,
    undefined,
    'account',
    null,
  )}${dayFields({ ...(from && { from }), ...(to && { to }) }, faults, say)}`;
  const content = html`<p class="screen">${linkBack(context)}</p>
<h1>${say.of(TITLE)}</h1>
<div class="screen">${filterBar(context, REPORT_PATH, {}, { fields, button: say`Show` })}</div>
${
  isAsked
    ? await report(context, await periodOf(database, money, from, to))
    : html`<p>${chosen === undefined ? say`No statement has been imported yet.` : say`Choose an account and two days.`}</p>`
}`;
  return { status: hasFaults(faults) ? 422 : 200, title: say.of(TITLE), content, place: STATEMENTS_PATH };
}

function faultsOf(
  { say }: StatementContext,
  days: { from: string | undefined; to: string | undefined },
): Faults {
  const faults: Record<string, string> = {};
  for (const [name, day] of Object.entries(days))
    if (day !== undefined && !dayBounds(day, 'UTC')) faults[name] = say`Must be a date like 2026-11-20`;
  if (days.from && days.to && days.from > days.to) faults.to = say`The last day is before the first`;
  return faults;
}

async function report(context: StatementContext, period: Period): Promise<Html> {
  const { say } = context;
  const { account, currency, from, to, closing, bank } = period;
  const shown: ReportLine[] = [];
  for await (const page of reportLines(context.database, period, context.timeZone)) {
    shown.push(...page);
    if (shown.length > LINES_SHOWN) break;
  }
  const isWhole = shown.length <= LINES_SHOWN;
  const isCompared = closing !== undefined && bank !== undefined;
  const sentence = html`<p>${balanceSentence(say, context.money, period)}</p>`;
  const made = `${context.principal.name}, ${context.moment(context.now)}`;
  return html`<section class="block" aria-labelledby="sums-heading">
<h2 id="sums-heading">${accountNumber(account)} ${currency}, ${dayInWords(from, say)} – ${dayInWords(to, say)}</h2>
${isCompared ? notice(sentence, closing === bank ? 'status' : 'warn') : sentence}
${rows(sumsOf(context, period), 'terms sums')}
<p class="muted">${say`Created by ${made}.`}</p>
</section>
<section class="block" aria-labelledby="days-heading"><h2 id="days-heading">${say`Day by day`}</h2>
${dayTable(context, period)}</section>
<section class="block" aria-labelledby="report-lines-heading"><h2 id="report-lines-heading">${say`Lines`}</h2>
${shown.length === 0 ? html`<p>${say`There are no lines.`}</p>` : lineTable(context, currency, shown.slice(0, LINES_SHOWN))}
${!isWhole && html`<p><strong>${say`Only the first ${LINES_SHOWN} lines are shown.`}</strong> ${say`The file has them all.`}</p>`}
</section>
${downloadForm(context, period)}`;
}

/** The sums of lines in a state and a direction, in words. */
const STATES = [
  [phrase('Matched'), 'credit', 'matched'],
  [phrase('To look at'), 'credit', 'open'],
  [phrase('Ignored'), 'credit', 'ignored'],
  [phrase('Money out'), 'debit', undefined],
] as const;

function sumsIn(days: readonly BookedDay[], [, direction, state]: (typeof STATES)[number]) {
  const sums = days
    .flatMap((one) => one.sums)
    .filter((one) => one.direction === direction && (state === undefined || one.state === state));
  return {
    count: sums.reduce((all, { count }) => all + count, 0),
    minor: signedSum(sums),
  };
}

function sumsOf(context: StatementContext, period: Period) {
  const { say } = context;
  const { opening, closing, bank, days, currency } = period;
  return [
    [say`Opening balance`, signedMoney(context, opening, currency)],
    ...STATES.map((one): [string, Html] => {
      const { count, minor } = sumsIn(days, one);
      return [
        say.of(one[0]),
        html`${signedMoney(context, minor, currency)} <span class="muted">(${count})</span>`,
      ];
    }),
    [say`Closing balance`, signedMoney(context, closing, currency)],
    [say`Closing balance of the bank`, signedMoney(context, bank, currency)],
  ] as [string, Html][];
}

function dayTable(context: StatementContext, { days, currency }: Period): Html {
  const { say } = context;
  if (days.length === 0) return html`<p>${say`Nothing was booked.`}</p>`;
  const sum = (one: (typeof STATES)[number]) => (day: BookedDay) => {
    const { count, minor } = sumsIn([day], one);
    return count === 0 ? html`<span>–</span>` : html`${signedMoney(context, minor, currency)}`;
  };
  return records<BookedDay>(
    [
      [say`Day`, (day) => dayOn(context, day)],
      ...STATES.map((one) => [say.of(one[0]), sum(one), 'number'] as const),
      [say`Balance`, ({ balance }) => signedMoney(context, balance, currency), 'number'],
      [
        say`Of the bank`,
        ({ bank, balance }) =>
          html`${signedMoney(context, bank, currency)}${bank !== undefined && balance !== bank && html` <strong>${say`differs`}</strong>`}`,
        'number',
      ],
    ],
    days,
  );
}

function lineTable(context: StatementContext, currency: string, lines: readonly ReportLine[]): Html {
  const { say } = context;
  return records<ReportLine>(
    [
      dayColumn(context),
      amountColumn(context),
      [say`From or to`, ({ row }) => saidOrDash(row.name)],
      [say`Bank reference`, ({ row }) => (row.bank_reference === null ? '–' : literal(row.bank_reference))],
      [say`Result`, (one) => fateOf(context, one)],
      [say`Balance`, ({ balance }) => signedMoney(context, balance, currency), 'number'],
    ],
    lines,
  );
}

/** What became of a line: its payment with who decided and when, or why it is ignored. */
function fateOf(context: StatementContext, { line, row, statement }: ReportLine): Html {
  const { say } = context;
  const note = row.note !== null && html`<div class="muted">${said(row.note)}</div>`;
  if (line.payment_id !== null) {
    const name = row.merchant_reference ?? line.payment_id;
    const decided =
      row.decided_by !== null &&
      html`, ${
        row.payment_status === 'approved'
          ? say`approved by ${row.decided_by}, ${dayInWords(row.decided_on!, say)}`
          : say`rejected by ${row.decided_by}, ${dayInWords(row.decided_on!, say)}`
      }`;
    return html`<div><a href="${addressOfPayment(context, line.payment_id)}">${said(name)}</a>${decided}${note}</div>`;
  }
  const state =
    line.booked === 0
      ? say`Pending`
      : line.direction === 'debit' && line.state === 'open'
        ? '–'
        : say.of(STATE_NAMES[line.state]);
  const pasted = statement?.format === 'pasted' && html`<div class="muted">${statement.file}</div>`;
  return html`<div>${state}${note}${pasted}</div>`;
}

function downloadForm(context: StatementContext, { account, currency, from, to }: Period): Html {
  const { say } = context;
  return html`<form class="screen narrow" method="get" action="${context.address(`${REPORT_PATH}.csv`)}">
<h2>${say`As a file`}</h2>
<input type="hidden" name="account" value="${accountName({ account, currency })}">
<input type="hidden" name="from" value="${from}"><input type="hidden" name="to" value="${to}">
${separatorChoice(context)}<p class="actions"><button class="primary">${say`Download CSV`}</button></p></form>`;
}

export async function downloadReport(context: StatementContext, format: ExportFormat): Promise<Outcome> {
  const money = (await accountsOf(context)).get(context.query.get('account') ?? '');
  const { from, to, separator } = await recordedExport(context, format);
  if (!money || !from || !to)
    throw new OperationalError(
      'validation_failed',
      phrase('A report needs an account with its currency, and the days from and to.'),
    );
  const period = await periodOf(context.database, money, from, to);
  const stream = reportStream(context.database, period, { format, separator, timeZone: context.timeZone });
  return downloadOf(context, 'report', format, stream);
}

/** The choice of what separates the cells for a spreadsheet. */
const separatorChoice = ({ say }: StatementContext): Html =>
  filterChoice(
    say,
    'separator',
    say`For a spreadsheet, separated by`,
    [
      ...SEPARATOR_NAMES.map((one) => [one, say.of(SEPARATOR_LABELS[one])] as const),
      ['', say`For a program instead`],
    ],
    'semicolon',
    undefined,
    'separator',
    null,
  );

export async function exportPage(context: StatementContext): Promise<Outcome> {
  const { address, database, say } = context;
  const named = new Set((await lineSums(database)).map(({ account }) => account));
  const accounts = [...named].map((one) => [one, accountText(one)] as const);
  const body = html`<p>${say`Every line with its result: its payment, who decided and when, or why it is ignored. A debit has a negative amount. Separated by semicolons, amounts have a decimal comma.`}</p>
<form class="narrow" method="get" action="${address(`${STATEMENTS_PATH}/lines.csv`)}">
${filterChoice(say, 'account', say`Account`, accounts, undefined)}
${dayFields({}, {}, say)}${separatorChoice(context)}<p class="actions"><button class="primary" autofocus>${say`Download CSV`}</button></p></form>`;
  return pageBelow(context, say`Download lines`, body);
}

export async function downloadLines(context: StatementContext, format: ExportFormat): Promise<Outcome> {
  const { separator, ...filter } = await recordedExport(context, format);
  const how = { format, separator, timeZone: context.timeZone };
  const stream = linesStream(context.database, filter, how);
  return downloadOf(context, 'statement-lines', format, stream);
}

/** What an address asks of lines to download. An entry tells it before the first byte. Throws `validation_failed`. */
async function recordedExport(context: StatementContext, format: ExportFormat) {
  const { journal, act, query } = context;
  const asked = askedOf(query, [...ASKED, 'separator'], TEXT_MAXIMUM);
  const { account, from, to } = asked;
  for (const [name, day] of Object.entries({ From: from, To: to }))
    if (day !== undefined && !dayBounds(day, 'UTC'))
      throw new OperationalError('validation_failed', `${name} must be a date like 2026-11-20.`);
  const separator = separatorOf(asked.separator);
  await journal.commit((transaction) =>
    transaction.record({
      ...act,
      action: 'statement_lines.exported',
      subject: 'statement_lines',
      facts: { format, from: from ?? null, to: to ?? null },
    }),
  );
  return { account, from, to, separator };
}

/** A file that is downloaded today. */
const downloadOf = (
  { timeZone, now }: StatementContext,
  name: string,
  format: ExportFormat,
  stream: Readable,
): Outcome => ({ stream, type: EXPORT_TYPES[format], name: `${name}-${dateIn(timeZone, now)}.${format}` });
