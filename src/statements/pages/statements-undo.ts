// The newest imports in the console, with what they brought and a button that undoes each.
import type { StatementFault } from '#bank-statements';
import { literal } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import { accountNumber } from '../../review/pages/panel.ts';
import { daysInWords } from '../../review/told.ts';
import { records } from '../../web/markup/table.ts';
import type { KeptStatement } from '../kept.ts';
import { listStatements, statementsDecided } from '../line-queries.ts';
import { isUndone } from '../undo.ts';
import type { StatementContext } from './context.ts';
import { STATEMENTS_PATH } from './statement-lists.ts';

export const UNDO_PATH = `${STATEMENTS_PATH}/undo`;
/** Imports that are shown. */
const SHOWN = 8;

/** Faults and warnings of an import that are shown. */
const DOUBTS_SHOWN = 2;

const doubtsIn = (faults: KeptStatement['faults']): string[] =>
  (JSON.parse(faults ?? '[]') as StatementFault[]).slice(0, DOUBTS_SHOWN).map(({ text }) => text);

/** The newest imports; nothing if there are none. */
export async function recentImports({
  database,
  address,
  token,
  say,
}: StatementContext): Promise<Html | false> {
  const found = await listStatements(database, undefined, undefined, SHOWN);
  if (found.length === 0) return false;
  const decided = await statementsDecided(
    database,
    found.map(({ id }) => id),
  );
  const button = ({ id, file }: KeptStatement) =>
    html`<form method="post" action="${address(UNDO_PATH)}">${token}<input type="hidden" name="statement" value="${id}">
<button class="secondary" aria-label="${say`Undo the import of ${file}`}">${say`Undo`}</button></form>`;
  return html`<section class="block" aria-labelledby="recent-heading"><h2 id="recent-heading">${say`Newest imports`}</h2>
<p class="muted">${say`You can undo an import as long as none of its lines was matched or ignored. Its file can be imported again.`}</p>
${records<KeptStatement>(
  [
    [
      say`File`,
      ({ file, faults }) =>
        html`${literal(file)}${doubtsIn(faults).map((text) => html`<div class="muted" lang="en">${text}</div>`)}`,
    ],
    [say`Account`, ({ account }) => accountNumber(account)],
    [say`Days`, ({ first_day, last_day }) => daysInWords(first_day, last_day, say) || '–'],
    [say`Lines`, ({ lines }) => String(lines), 'number'],
    [say`Undo`, (one) => (isUndone(one) ? say`Undone` : decided.has(one.id) ? '–' : button(one))],
  ],
  found,
)}</section>`;
}
