// Where a bookkeeper goes on after a line: to the next one that asks for a look, told what was done with the one before.

import { notice } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { findPayment } from '../../payments/queries.ts';
import { addressOfLine, addressOfPayment } from '../../review/pages/panel.ts';
import { isLineId } from '../kept.ts';
import { findLine } from '../line-queries.ts';
import { openLines, placeInList } from '../matching/open-lines.ts';
import { dayOn, lineAmount, STATE_NAMES, STATEMENTS_PATH, type StatementContext } from './statement-page.ts';

/** The next open line below one that was decided, certain and pending ones left out; the list if there is none. */
export async function goOn(context: StatementContext, lineId: string): Promise<Outcome> {
  const { database, address } = context;
  database.refresh();
  const line = await findLine(database, lineId);
  const open = line ? await openLines(database, context) : [];
  const next = open.find(
    ({ line: one, proposals: [best] }) =>
      placeInList(one) < placeInList(line!) && one.booked === 1 && best?.level !== 'certain',
  );
  if (!next) return { to: address(STATEMENTS_PATH, { done: lineId }) };
  // Browsers focus no button by themselves on a page whose address leads to a place in it, as every redirect else does.
  return { to: `${address(`${STATEMENTS_PATH}/lines/${next.line.id}`, { done: lineId })}#next` };
}

/** What was done last, told from what stands in the store. */
export async function doneLine(context: StatementContext): Promise<Html | undefined> {
  const { say } = context;
  const id = context.query.get('done');
  const line = id !== null && isLineId(id) ? await findLine(context.database, id) : undefined;
  if (!line) return undefined;
  const payment =
    line.payment_id !== null &&
    html` · <a href="${addressOfPayment(context, line.payment_id)}">${say`See the payment`}</a>`;
  const isApproved =
    line.payment_id !== null && (await findPayment(context.database, line.payment_id))?.status === 'approved';
  return notice(
    html`<p>${isApproved ? say`Approved` : say.of(STATE_NAMES[line.state])}: ${lineAmount(context, line)}, ${dayOn(context, line)}.
<a href="${addressOfLine(context, line.id)}">${say`See the line`}</a>${payment}</p>`,
  );
}
