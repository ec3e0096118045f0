// A bank line for several payments: the form that matches it with all of them, and what its parts are then.

import { said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, hidden, html } from '../../lib/html.ts';
import type { Payment } from '../../payments/payment.ts';
import { addressOfLine, addressOfPayment, statusStamp } from '../../review/pages/panel.ts';
import { restOf } from '../../review/review.ts';
import { records } from '../../web/markup/table.ts';
import type { KeptLine } from '../kept.ts';
import { findLine, partsOfLine } from '../line-queries.ts';
import type { Proposal } from '../matching/judge-line.ts';
import { reopenLine } from '../matching/line-acts.ts';
import { bankLine } from '../matching/line-evidence.ts';
import { acceptParts, reopenParts, severalOf } from '../matching/line-parts.ts';
import type { StatementContext } from './context.ts';
import { goOn } from './statement-done.ts';
import { lineAmount, STATEMENTS_PATH } from './statement-lists.ts';

/** The payments that a line is proposed for together, and the button that matches it with all of them; nothing if there are none. */
export function severalForm(context: StatementContext, line: KeptLine, proposals: readonly Proposal[]): Html {
  const payments = severalOf(bankLine(line), proposals);
  const [about] = proposals.filter((one) => payments.includes(one.payment));
  if (!about) return html``;
  const { address, token, money, say } = context;
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
<form method="post" action="${address(`${STATEMENTS_PATH}/lines/${line.id}/split`)}">${token}${hidden({ pairs })}
<p class="actions"><button class="primary" autofocus>${say`Match with these ${payments.length} payments`}</button>
<span>${lineAmount(context, line)}</span></p></form>
</div>`;
}

/** The parts of a line that was split, each with its payment. */
export async function partsShown(context: StatementContext, line: KeptLine): Promise<Html> {
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
