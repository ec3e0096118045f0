// What became of a bank line: as its page says it, as the next page tells it, and the forms that take it back or split it.

import { notice, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, hidden, html } from '../../lib/html.ts';
import type { Payment } from '../../payments/payment.ts';
import { findPayment, findPayments } from '../../payments/queries.ts';
import { addressOfLine, addressOfPayment, statusStamp } from '../../review/pages/panel.ts';
import { restOf } from '../../review/review.ts';
import { records } from '../../web/markup/table.ts';
import { isLineId, type KeptLine } from '../kept.ts';
import { findLine, partsOfLine } from '../line-queries.ts';
import type { Proposal } from '../matching/judge-line.ts';
import { isDecidedBy, reopenLine } from '../matching/line-acts.ts';
import { bankLine } from '../matching/line-evidence.ts';
import { acceptParts, reopenParts, severalOf } from '../matching/line-parts.ts';
import { openLines, placeInList } from '../matching/open-lines.ts';
import {
  dayOn,
  lineAmount,
  lineForm,
  STATE_NAMES,
  STATEMENTS_PATH,
  type StatementContext,
} from './statement-page.ts';

/** What became of a line, and the button that takes it back for those who may decide, unless its payment is decided. */
export async function outcomeOf(
  context: StatementContext,
  line: KeptLine,
  mayDecide: boolean,
): Promise<Html> {
  const { say } = context;
  const decided = await decidedPayment(context, line);
  const told = await {
    matched: () =>
      html`<p>${
        line.direction === 'debit'
          ? say.html`It is money that went back of ${paymentLink(context, line)}.`
          : say.html`It is the money of ${paymentLink(context, line)}.`
      }${decided && html` ${decided.status === 'approved' ? say`The payment is approved.` : say`The payment is rejected.`}`}</p>`,
    ignored: () => html`<p>${say`It is ignored:`}</p><p class="words" dir="auto">${line.note ?? ''}</p>`,
    split: () => partsShown(context, line),
    replaced: () => html`<p>${say`Other lines have taken its place.`}</p>`,
    undone: () => html`<p>${say`Its import was undone.`}</p>`,
    open: () => html``,
  }[line.state]();
  const again = line.state !== 'replaced' && line.state !== 'undone' && !decided;
  return html`${notice(told)}${
    mayDecide &&
    again &&
    html`${lineForm(context, line.id, 'reopen')}
<p class="actions"><button class="secondary">${say`Take it back`}</button></p></form>`
  }`;
}

const paymentLink = (context: StatementContext, { payment_id }: KeptLine): Html =>
  html`<a href="${addressOfPayment(context, payment_id!)}">${context.say`this payment`}</a>`;

/** The payment of a line, or of one of its parts, that was decided by it: the match stands then. Undefined if none was. */
async function decidedPayment({ database }: StatementContext, line: KeptLine): Promise<Payment | undefined> {
  const lines = line.state === 'split' ? await partsOfLine(database, line) : [line];
  const ids = lines.flatMap(({ payment_id }) => payment_id ?? []);
  const payments = await findPayments(database, ids);
  return payments.find((payment) =>
    lines.some((one) => one.payment_id === payment.id && isDecidedBy(payment, one)),
  );
}

/** The payments that a line is proposed for together, and the button that matches it with all of them; nothing if there are none. */
export function severalForm(context: StatementContext, line: KeptLine, proposals: readonly Proposal[]): Html {
  const payments = severalOf(bankLine(line), proposals);
  const [about] = proposals.filter((one) => payments.includes(one.payment));
  if (!about) return html``;
  const { money, say } = context;
  const pairs = payments.map(({ id, version }) => `${id} ${version}`).join(',');
  return html`<div class="block">
<p><strong>${about.said(say, money).sentence}</strong></p>
${records<Payment>(
  [
    [
      say`Payment`,
      ({ id, merchant_reference, merchant_name }) =>
        html`<a href="${addressOfPayment(context, id)}">${said(merchant_reference ?? merchant_name)}</a>`,
    ],
    [say`Status`, (payment) => statusStamp(context, payment)],
    [say`Amount`, (payment) => html`<bdi>${money(restOf(payment), payment.currency)}</bdi>`, 'number'],
  ],
  payments,
)}
${lineForm(context, line.id, 'split')}${hidden({ pairs })}
<p class="actions"><button class="primary" autofocus>${say`Match with these ${payments.length} payments`}</button>
<span>${lineAmount(context, line)}</span></p></form>
</div>`;
}

/** The parts of a line that was split, each with its payment. */
async function partsShown(context: StatementContext, line: KeptLine): Promise<Html> {
  const { say } = context;
  const parts = await partsOfLine(context.database, line);
  return html`<p>${say`It is the money of several payments:`}</p>
<ul>${parts.map(
    (part) =>
      html`<li><a href="${addressOfLine(context, part.id)}">${lineAmount(context, part)}</a>${
        part.payment_id === null
          ? html` ${part.state === 'ignored' ? said(part.note ?? '') : say`is to look at again`}`
          : html` <a href="${addressOfPayment(context, part.payment_id)}">${say`for this payment`}</a>`
      }</li>\n`,
  )}</ul>`;
}

export async function takeParts(context: StatementContext): Promise<Outcome> {
  const { journal, principal, params, form } = context;
  const pairs = (form.get('pairs') ?? '').split(',').map((pair) => {
    const [payment_id = '', version] = pair.split(' ');
    return { payment_id, version: Number(version) };
  });
  const id = params.line_id!;
  const line = await findLine(context.database, id);
  const charges = line && bankLine(line).chargesMinor ? context.say`Charges of the bank` : null;
  await journal.commit((transaction) => acceptParts(transaction, principal, id, pairs, charges));
  return goOn(context, id);
}

/** Takes back what became of a line, or of all parts of one that was split. */
export async function takeReopen(context: StatementContext): Promise<Outcome> {
  const { database, journal, principal, params } = context;
  const id = params.line_id!;
  const isSplit = (await findLine(database, id))?.state === 'split';
  const reopen = isSplit ? reopenParts : reopenLine;
  await journal.commit((transaction) => reopen(transaction, principal, id));
  return { to: addressOfLine(context, id) };
}

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
