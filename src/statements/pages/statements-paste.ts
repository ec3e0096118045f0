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
import { type Html, hidden, html } from '../../lib/html.ts';
import { sha256Hex } from '../../lib/secrets.ts';
import { dateIn } from '../../lib/time.ts';
import { accountText } from '../../review/pages/panel.ts';
import { records } from '../../web/markup/table.ts';
import { importedText } from '../import.ts';
import { importFile } from '../import-file.ts';
import { type PastedRow, readPasted } from '../pasted.ts';
import { ownAccount } from '../remembered.ts';
import { wordsOf } from './csv-form.ts';
import {
  dayOn,
  lineAmount,
  linkToLines,
  pageBelow,
  STATEMENTS_PATH,
  type StatementContext,
  saidOrDash,
  typed,
} from './statement-page.ts';

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
    return own === undefined
      ? []
      : [{ account, own, currency, label: `${holder}: ${accountText(own)}, ${currency}` }];
  });
  return new Map(named.map((one) => [`${one.own}_${one.currency}`.replaceAll(/\s/g, '_'), one]));
}

interface Shown {
  faults?: Faults;
  list?: ReadList;
  /** What became of the list before. */
  told?: Html;
}

export function pastePage(context: StatementContext, { faults = {}, list, told }: Shown = {}): Outcome {
  const { address, token, form, say } = context;
  const accounts = accountsOf(context);
  const account = typed(context, 'account') || (accounts.size === 1 ? [...accounts.keys()][0] : undefined);
  const options = [...accounts].map(([value, { label }]) => [value, label] as const);
  const marks = (name: 'dates' | 'decimal', label: string) => {
    const [words, chosen] = [wordsOf(say, CSV_CHOICES[name]), typed(context, name) || undefined];
    return filterChoice(say, name, label, words, chosen, undefined, name, say`Recognise it`);
  };
  const body = html`${told}<form method="post" action="${address(PASTE_PATH)}#errors" enctype="multipart/form-data" novalidate>${token}
${list && readRows(context, list)}
${choice({ name: 'account', legend: say`Account`, options, chosen: account, fault: faults.account })}${
  list &&
  html`<div class="filters"><div class="fields">${marks('dates', say`Date format`)}${marks('decimal', say`Decimal separator`)}</div></div>`
}
${field({
  name: 'list',
  label: say`Payments that arrived, one in each row`,
  hint: say`As you copy them from online banking: an amount in each row, with a reference or a name, and the day if it is known. ${ROWS_MAXIMUM} rows or fewer.`,
  value: told ? '' : (form.get('list') ?? ''),
  fault: faults.list,
  lines: 10,
  attributes: { autofocus: !list && !told, spellcheck: 'false' },
})}<p class="actions">${
    list
      ? html`<button class="secondary" name="act" value="read">${say`Read again`}</button>`
      : html`<button class="primary" name="act" value="read">${say`Read the list`}</button>`
  }</p></form>
<p class="muted">${say`You can paste a list twice: nothing is added twice. When a bank statement later shows the same money, it takes the place of the list.`}</p>`;
  return pageBelow(context, say`Paste a list`, body, faults);
}

/** What the rows are read as, each that is not understood, and the button that keeps the lines. */
function readRows(context: StatementContext, { rows, known }: ReadList): Html {
  const { say } = context;
  const understood = rows.filter((row) => row.line);
  const wrong = rows.filter((row) => row.fault);
  const repeated = understood.filter((row) => known.has(row.line!.fingerprint)).length;
  const added = understood.length - repeated;
  return html`${
    wrong.length > 0 &&
    notice(
      html`<p><strong>${say`${wrong.length} of ${rows.length} rows were not understood.`}</strong>
${say`Correct them below: these rows are left out.`}</p>
<ul>${wrong.map(({ at, written, fault }) => html`<li>${say.html`Row ${at}, ${said(written.slice(0, 140))}: ${html`<span lang="en">${fault}</span>`}`}</li>\n`)}</ul>`,
      'warn',
    )
  }${
    understood.length > 0 &&
    html`${records<PastedRow>(
      [
        [say`Row`, ({ at }) => String(at), 'number'],
        [say`Day`, ({ line }) => dayOn(context, { day: line!.bookingDay ?? '' })],
        [
          say`Amount`,
          ({ line }) => lineAmount(context, { ...line!, amount_minor: line!.amountMinor }),
          'number',
        ],
        [say`From`, ({ line }) => saidOrDash(line!.counterparty.name)],
        [say`Text`, ({ line }) => saidOrDash(line!.text || line!.counterparty.account)],
        [
          say`Then`,
          ({ line }) => html`<span>${known.has(line!.fingerprint) ? say`Known already` : say`New`}</span>`,
        ],
      ],
      understood,
    )}${hidden({ seen: seenOf(context) })}${
      repeated > 0 &&
      html`<div class="radio"><input type="checkbox" id="again" name="again" value="${context.now}">
<label for="again">${say`Add the known ones once more: it is other money`}</label></div>
`
    }<p class="actions"><button class="primary" name="act" value="keep" autofocus>${
      added === 0 ? say`Keep the list` : say.count(added, 'Keep {n} line', 'Keep {n} lines')
    }</button></p>`
  }`;
}

/** Tells whether the list that is kept is the one that was shown. */
const seenOf = (context: StatementContext) =>
  sha256Hex(['list', 'account', 'dates', 'decimal'].map((name) => typed(context, name)).join('\0'));

export async function takeList(context: StatementContext): Promise<Outcome> {
  const { form, journal, principal, act, now, timeZone, say } = context;
  const chosen = accountsOf(context).get(typed(context, 'account'));
  const text = form.get('list') ?? '';
  const faults = {
    ...(!chosen && { account: say`Choose the account` }),
    ...(text.trim() === '' && { list: say`Paste at least one row` }),
    ...(text.split('\n').length > ROWS_MAXIMUM && { list: say`Paste ${ROWS_MAXIMUM} rows or fewer at once` }),
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
  const done = notice(html`<p>${literal(own)}: ${importedText(imported!, say)}.</p>`);
  return pastePage(context, { told: html`${done}${linkToLines(context)}` });
}
