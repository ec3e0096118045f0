// How far an import is that takes longer than a page is waited for. The page asks again by itself, and needs no script for that.
import { literal, notice } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { isTimeOrderedId } from '../../lib/ids.ts';
import { IMPORT_ID_PREFIX, type ImportStatus, importStatus } from '../import-status.ts';
import type { StatementContext } from './context.ts';
import { STATEMENTS_PATH } from './statement-lists.ts';

/** Seconds until the page asks again. */
const AGAIN_S = 3;

/** Throws `not_found` for an import that is none. */
export async function importingPage(context: StatementContext): Promise<Outcome> {
  const { database, params, now, say, address } = context;
  const id = params.import_id!;
  database.refresh();
  const status = isTimeOrderedId(IMPORT_ID_PREFIX, id) ? await importStatus(database, id, now) : undefined;
  if (!status) throw new OperationalError('not_found', 'There is no such import.');
  const isRunning = status.state === 'running';
  return {
    title: say`Import statements`,
    content: html`<p><a class="plain" href="${address(`${STATEMENTS_PATH}/import`)}">${say`Import statements`}</a></p>
<h1>${isRunning ? say`The import goes on` : say`Import statements`}</h1>
${isRunning ? running(context, status) : ended(context, status)}`,
    place: STATEMENTS_PATH,
    ...(isRunning && { headers: { refresh: String(AGAIN_S) } }),
  };
}

function running({ say, address }: StatementContext, { id, lines, lines_done }: ImportStatus): Html {
  const link = html`<p><a class="secondary" href="${address(`${STATEMENTS_PATH}/import/${id}`)}">${say`Look again`}</a></p>`;
  const far =
    lines === null
      ? html`<progress aria-labelledby="far"></progress><p id="far">${say`The file is read.`}</p>`
      : html`<progress aria-labelledby="far" max="${lines}" value="${lines_done}"></progress>
<p id="far">${say`${lines_done.toLocaleString(say.tag)} of ${lines.toLocaleString(say.tag)} lines are in.`}</p>`;
  return html`<section class="block" role="status">${far}</section>
<p class="muted">${say`This page looks again every ${AGAIN_S} seconds. You can leave it: the import goes on, and its lines are shown once all of them are in.`}</p>${link}`;
}

function ended({ say, address }: StatementContext, status: ImportStatus): Html {
  const { state, added, booked, known, faults } = status;
  const link = html`<p><a class="primary" href="${address(STATEMENTS_PATH)}" autofocus>${say`See the lines`}</a></p>`;
  const wrong =
    faults.length > 0 &&
    html`<ul>${faults.map(({ line, text }) => html`<li>${line > 0 && `${say`Line ${line}:`} `}${literal(text)}</li>\n`)}</ul>`;
  if (state === 'done') {
    const told = html`<p>${say`${added} new lines, ${booked} booked by now, ${known} known before.`}</p>${wrong}`;
    return html`${notice(told, faults.length > 0 ? 'warn' : 'status')}${link}`;
  }
  const text = {
    refused: say`Nothing was imported.`,
    failed: say`The import failed, and nothing of it is seen. Import the file again: it goes on where it ended.`,
    stopped: say`The import stopped with its server, and nothing of it is seen. Import the file again: it goes on where it ended.`,
    running: '',
  }[state];
  return html`${notice(html`<p><strong>${text}</strong></p>${wrong}`, 'warn')}`;
}
