// Bank statements in the console: what came in with its sums, the lists of lines, and the ways to more.

import { may } from '../../administrators/administrator.ts';
import { askedOf, filterBar, filterChoice, findField } from '../../administrators/pages/filters.ts';
import { emptyState, type Faults } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { accountNumber } from '../../review/pages/panel.ts';
import { records } from '../../web/markup/table.ts';
import { LINE_STATES, type LineState } from '../kept.ts';
import { type LineSum, lineSums } from '../line-queries.ts';
import { foundList, openList, otherList } from './statement-lists.ts';
import { doneLine } from './statement-outcome.ts';
import { dayOn, STATE_NAMES, STATEMENTS_PATH, type StatementContext } from './statement-page.ts';
import { RULES_PATH } from './statement-rules.ts';
import { accountName, REPORT_PATH } from './statements-report.ts';

const PARAMETER_MAXIMUM = 100;

export async function statementsPage(
  context: StatementContext,
  { faults = {}, done }: { faults?: Faults; done?: Html } = {},
): Promise<Outcome> {
  const { database, principal, query, address, say } = context;
  const asked = askedOf(query, ['state', 'after', 'q'], PARAMETER_MAXIMUM);
  const state = LINE_STATES.find((one) => one === asked.state) ?? 'open';
  const sums = await lineSums(database);
  const mayDecide = may(principal.role, 'decide');
  const look = sums.length === 0 ? 'primary' : 'secondary';
  const list =
    asked.q !== undefined
      ? await foundList(context, asked.q)
      : state === 'open'
        ? await openList(context, mayDecide, faults)
        : await otherList(context, state, asked.after);
  const heading = asked.q === undefined ? say.of(STATE_NAMES[state]) : say`Found`;
  const content = html`${done ?? (await doneLine(context))}
<h1>${say`Statements`}</h1>
<p class="actions">${
    mayDecide &&
    html`<a class="${look}" href="${address(`${STATEMENTS_PATH}/import`)}" data-key="u">${say`Import statements`}</a>
<a class="secondary" href="${address(`${STATEMENTS_PATH}/paste`)}">${say`Paste a list`}</a> `
  }${
    sums.length > 0 &&
    html`<a class="secondary" href="${address(REPORT_PATH)}">${say`Report`}</a>
<a class="secondary" href="${address(`${STATEMENTS_PATH}/export`)}" data-key="d">${say`Download lines`}</a>
<a class="secondary" href="${address(RULES_PATH)}">${say`Rules`}</a>`
  }</p>
${
  sums.length === 0
    ? emptyState('bank', say`No statement has been imported yet.`)
    : html`${sumTable(context, sums)}
<section class="block" aria-labelledby="lines-heading"><h2 id="lines-heading">${heading}</h2>
${searchForm(context, asked.q)}
${asked.q === undefined && stateForm(context, state)}
${list}</section>`
}`;
  return { title: say`Statements`, content, place: STATEMENTS_PATH, faults };
}

function stateForm(context: StatementContext, state: LineState): Html {
  const { say } = context;
  const states = LINE_STATES.map((one) => [one, say.of(STATE_NAMES[one])] as const);
  return filterBar(context, STATEMENTS_PATH, state === 'open' ? {} : { state }, {
    fields: filterChoice(say, 'state', say`Lines`, states, state),
    button: say`Show`,
  });
}

function searchForm(context: StatementContext, q: string | undefined): Html {
  const { say } = context;
  const fields = findField(context, q, say`Reference, payer, account, amount, text`);
  return filterBar(context, STATEMENTS_PATH, q === undefined ? {} : { q }, {
    fields,
    button: '',
    label: say`Search lines`,
  });
}

function sumTable(context: StatementContext, sums: readonly LineSum[]): Html {
  const { say } = context;
  const booked = sums.filter((one) => one.booked === 1 && one.direction === 'credit');
  const accounts = [...Map.groupBy(booked, ({ account, currency }) => `${account} ${currency}`).values()];
  const of = (lines: readonly LineSum[], state: LineState) => {
    const sum = lines.find((one) => one.state === state);
    return sum
      ? html`<span>${sum.count} · <bdi>${context.money(sum.sum_minor, sum.currency)}</bdi></span>`
      : html`<span>–</span>`;
  };
  return records<LineSum[]>(
    [
      [
        say`Account`,
        ([one]) =>
          html`<a class="plain" href="${context.address(REPORT_PATH, { account: accountName(one!) })}">${accountNumber(one!.account)}</a>`,
      ],
      [
        say`Up to`,
        (lines) =>
          dayOn(context, { day: lines.toSorted((a, b) => (a.last_day < b.last_day ? 1 : -1))[0]!.last_day }),
      ],
      [say`To look at`, (lines) => of(lines, 'open'), 'number'],
      [say`Matched`, (lines) => of(lines, 'matched'), 'number'],
      [say`Ignored`, (lines) => of(lines, 'ignored'), 'number'],
    ],
    accounts,
  );
}
