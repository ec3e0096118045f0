// Lines of statements as a file, for the books: asked for by account and days, and told in the history before the first byte.

import { askedOf, dayFields, filterChoice } from '../../administrators/pages/filters.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { dateIn, dayBounds } from '../../lib/time.ts';
import { accountText } from '../../review/pages/panel.ts';
import {
  EXPORT_TYPES,
  type ExportFormat,
  SEPARATOR_NAMES,
  type Separator,
  separatorOf,
} from '../../web/row-writer.ts';
import { lineSums } from '../line-queries.ts';
import { linesStream } from '../matching/lines-export.ts';
import type { StatementContext } from './context.ts';
import { STATEMENTS_PATH } from './statement-lists.ts';

const TEXT_MAXIMUM = 100;
/** What entries about these exports are about. */
const EXPORT_SUBJECT = 'statement_lines';
const SEPARATOR_LABELS: Record<Separator, string> = {
  comma: phrase('Commas'),
  semicolon: phrase('Semicolons'),
  tab: phrase('Tabs'),
};

/** The choice of what separates the cells for a spreadsheet. */
export const separatorChoice = ({ say }: StatementContext): Html =>
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
  const accounts = [...new Set((await lineSums(database)).map(({ account }) => account))];
  const content = html`<p><a class="plain" href="${address(STATEMENTS_PATH)}">${say`Statements`}</a></p>
<h1>${say`Download lines`}</h1>
<p>${say`Every line with its result: its payment, who decided and when, or why it is ignored. A debit has a negative amount. Separated by semicolons, amounts have a decimal comma.`}</p>
<form class="narrow" method="get" action="${address(`${STATEMENTS_PATH}/lines.csv`)}">
${filterChoice(
  say,
  'account',
  say`Account`,
  accounts.map((one) => [one, accountText(one)] as const),
  undefined,
  undefined,
  'account',
  say`Any`,
)}${dayFields({}, {}, say)}${separatorChoice(context)}<p class="actions"><button class="primary" autofocus>${say`Download CSV`}</button></p></form>`;
  return { title: say`Download lines`, content, place: STATEMENTS_PATH };
}

export async function downloadLines(context: StatementContext, format: ExportFormat): Promise<Outcome> {
  const { account, from, to, separator } = await recordedExport(context, format);
  return {
    stream: linesStream(context.database, {
      format,
      separator,
      filter: { account, from, to },
      timeZone: context.timeZone,
    }),
    type: EXPORT_TYPES[format],
    name: nameOfExport(context, 'statement-lines', format),
  };
}

/** What an address asks of lines to download. An entry tells it before the first byte. Throws `validation_failed`. */
export async function recordedExport(
  context: StatementContext,
  format: ExportFormat,
): Promise<{ account?: string; from?: string; to?: string; separator: Separator | undefined }> {
  const { journal, act, query } = context;
  const asked = askedOf(query, ['account', 'from', 'to', 'separator'], TEXT_MAXIMUM);
  const { account, from, to } = asked;
  for (const [name, day] of Object.entries({ From: from, To: to }))
    if (day !== undefined && !dayBounds(day, 'UTC'))
      throw new OperationalError('validation_failed', `${name} must be a date like 2026-11-20.`);
  const separator = separatorOf(asked.separator);
  await journal.commit((transaction) =>
    transaction.record({
      ...act,
      action: 'statement_lines.exported',
      subject: EXPORT_SUBJECT,
      facts: { format, from: from ?? null, to: to ?? null },
    }),
  );
  return { ...(account && { account }), ...(from && { from }), ...(to && { to }), separator };
}

/** The name of a file that is downloaded today. */
export const nameOfExport = (
  { timeZone, now }: StatementContext,
  name: string,
  format: ExportFormat,
): string => `${name}-${dateIn(timeZone, now)}.${format}`;
