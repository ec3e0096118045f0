// Pasting a list of payments that arrived: what each row is read as is shown, and what is confirmed becomes lines without a statement.

import { CSV_CHOICES, type DateOrder, type DecimalWord, ownOf } from '#bank-statements';
import { filterChoice } from '../../administrators/pages/filters.ts';
import {
  choice,
  type Faults,
  field,
  hasFaults,
  literal,
  notice,
  said,
} from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { counted } from '../../lib/counted.ts';
import { type Html, hidden, html } from '../../lib/html.ts';
import { sha256Hex } from '../../lib/secrets.ts';
import { dateIn } from '../../lib/time.ts';
import { records } from '../../web/markup/table.ts';
import { ownAccount } from '../account.ts';
import { importedText } from '../import.ts';
import { importFile } from '../import-file.ts';
import { type PastedRow, readPasted } from '../pasted.ts';
import type { StatementContext } from './context.ts';
import { dayOn, lineAmount, STATEMENTS_PATH } from './statement-lists.ts';

export const PASTE_PATH = `${STATEMENTS_PATH}/paste`;
/** Rows of one list. */
const ROWS_MAXIMUM = 500;

/** What the rows of a list were read as. */
interface ReadList {
  rows: PastedRow[];
  /** Fingerprints of lines that the store has. */
  known: ReadonlySet<string>;
}

/** The accounts that a list may be about, by the value of the choice. */
function accountsOf({ offer }: StatementContext) {
  const all = offer.settings.flatMap(({ accounts }) => accounts);
  const named = all.flatMap(({ iban, rows = [], holder, currency }) => {
    const account = ownOf([iban ?? rows.map(({ value }) => value).join('/')]);
    const own = ownAccount(account, offer.settings);
    return own === undefined ? [] : [{ account, own, currency, label: `${holder}: ${own}, ${currency}` }];
  });
  return new Map(named.map((one) => [`${one.own}_${one.currency}`.replaceAll(/\s/g, '_'), one]));
}

const typed = ({ form }: StatementContext, name: string) => form.get(name)?.trim() ?? '';

interface Shown {
  faults?: Faults;
  list?: ReadList;
  /** What became of the list before. */
  told?: Html;
}

export function pastePage(context: StatementContext, { faults = {}, list, told }: Shown = {}): Outcome {
  const { address, token, form } = context;
  const accounts = accountsOf(context);
  const account = typed(context, 'account') || (accounts.size === 1 ? [...accounts.keys()][0] : undefined);
  const options = [...accounts].map(([value, { label }]) => [value, label] as const);
  const marks = (name: 'dates' | 'decimal', label: string) =>
    filterChoice(
      name,
      label,
      Object.entries(CSV_CHOICES[name]),
      typed(context, name) || undefined,
      undefined,
      name,
      'As the list tells',
    );
  const content = html`<p><a class="plain" href="${address(STATEMENTS_PATH)}">Statements</a></p>
<h1>Paste a list</h1>
${told}<form method="post" action="${address(PASTE_PATH)}#errors" enctype="multipart/form-data" novalidate>${token}
${list && readRows(context, list)}
${choice({ name: 'account', legend: 'Account', options, chosen: account, fault: faults.account })}${
  list &&
  html`<div class="filters"><div class="fields">${marks('dates', 'Days are written')}${marks('decimal', 'The mark of cents')}</div></div>`
}
${field({
  name: 'list',
  label: 'Payments that arrived, one in a row',
  hint: `As you copy them from online banking: an amount in each row, with a reference or a name, and perhaps a day.
A row without one is of today. At most ${ROWS_MAXIMUM} rows.`,
  value: told ? '' : (form.get('list') ?? ''),
  fault: faults.list,
  lines: 10,
  attributes: { autofocus: !list && !told, spellcheck: 'false' },
})}<p class="actions">${
    list
      ? html`<button class="secondary" name="act" value="read">Read again</button>`
      : html`<button class="primary" name="act" value="read">Read the list</button>`
  }</p></form>
<p class="muted">A list again adds nothing twice. A statement of your bank that shows the same money later takes its place.</p>`;
  return { title: 'Paste a list', content, place: STATEMENTS_PATH, ...(hasFaults(faults) && { faults }) };
}

/** What the rows are read as, each that is not understood, and the button that keeps the lines. */
function readRows(context: StatementContext, { rows, known }: ReadList): Html {
  const understood = rows.filter((row) => row.line);
  const wrong = rows.filter((row) => row.fault);
  const repeated = understood.filter((row) => known.has(row.line!.fingerprint)).length;
  const added = understood.length - repeated;
  return html`${
    wrong.length > 0 &&
    notice(
      html`<p><strong>Not understood: ${wrong.length} of ${rows.length}.</strong>
Correct them below: what is not understood is left out.</p>
<ul>${wrong.map(({ at, written, fault }) => html`<li>Row ${at}, ${said(written.slice(0, 140))}: ${fault}</li>\n`)}</ul>`,
      'warn',
    )
  }${
    understood.length > 0 &&
    html`${records<PastedRow>(
      [
        ['Row', ({ at }) => String(at), 'number'],
        ['Day', ({ line }) => dayOn({ day: line!.bookingDay ?? '' })],
        [
          'Amount',
          ({ line }) => lineAmount(context, { ...line!, amount_minor: line!.amountMinor }),
          'number',
        ],
        ['From', ({ line }) => (line!.counterparty.name ? said(line!.counterparty.name) : '–')],
        ['Text', ({ line }) => said(line!.text || line!.counterparty.account || '–')],
        ['Then', ({ line }) => html`<span>${known.has(line!.fingerprint) ? 'Known already' : 'New'}</span>`],
      ],
      understood,
    )}${hidden({ seen: seenOf(context) })}${
      repeated > 0 &&
      html`<div class="radio"><input type="checkbox" id="again" name="again" value="${context.now}">
<label for="again">Add what is known already once more: it is other money</label></div>
`
    }<p class="actions"><button class="primary" name="act" value="keep" autofocus>${
      added === 0 ? 'Keep the list' : `Keep ${counted(added, 'line')}`
    }</button></p>`
  }`;
}

/** Tells whether the list that is kept is the one that was shown. */
const seenOf = (context: StatementContext) =>
  sha256Hex(['list', 'account', 'dates', 'decimal'].map((name) => typed(context, name)).join('\0'));

export async function takeList(context: StatementContext): Promise<Outcome> {
  const { form, journal, principal, act, now, timeZone } = context;
  const chosen = accountsOf(context).get(typed(context, 'account'));
  const text = form.get('list') ?? '';
  const faults = {
    ...(!chosen && { account: 'Choose the account' }),
    ...(text.trim() === '' && { list: 'Paste at least one row' }),
    ...(text.split('\n').length > ROWS_MAXIMUM && { list: `Paste at most ${ROWS_MAXIMUM} rows at once` }),
  };
  if (!chosen || hasFaults(faults)) return pastePage(context, { faults });
  const word = (name: 'dates' | 'decimal') =>
    Object.hasOwn(CSV_CHOICES[name], typed(context, name)) ? typed(context, name) : undefined;
  const { rows, statement } = readPasted(text, {
    ...chosen,
    dates: word('dates') as DateOrder | undefined,
    decimal: word('decimal') as DecimalWord | undefined,
    file: `pasted by ${principal.name}`,
    today: dateIn(timeZone, now),
  });
  const { own } = chosen;
  const checked = { statements: [{ own, statement }], faults: [] };
  const options = { despiteFaults: false, dryRun: true };
  const [rehearsed] = (await importFile(journal, checked, act, options))!;
  const known = new Set(rehearsed!.knownAt.map((place) => statement.lines[place]!.fingerprint));
  if (form.get('act') !== 'keep' || form.get('seen') !== seenOf(context))
    return pastePage(context, { list: { rows, known } });
  const again = /^\d{13}$/.exec(form.get('again') ?? '')?.[0];
  // The form sent twice has one moment, so that it adds the lines once.
  for (const line of statement.lines)
    if (again !== undefined && known.has(line.fingerprint)) line.fingerprint += `~${again}`;
  const [imported] = (await importFile(journal, checked, act, { ...options, dryRun: false }))!;
  const link = html`<a class="primary" href="${context.address(STATEMENTS_PATH)}" autofocus>See the lines</a>`;
  const done = notice(html`<p>${literal(own)}: ${importedText(imported!)}.</p>`);
  return pastePage(context, { told: html`${done}<p>${link}</p>` });
}
