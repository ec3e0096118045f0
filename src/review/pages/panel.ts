// Pieces of every page that shows a payment: its status, amount and parties, and how many of two approvals there are.
import { isLong, literal, moment, nameOf, pairs, said } from '../../administrators/pages/parts.ts';
import type { Context } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { grouped } from '../../payments/methods/transfer/creditor-reference.ts';
import { asOf, type Payment } from '../../payments/payment.ts';
import { type IconName, icon } from '../../web/markup/icons.ts';
import { approvalsOf, needsSecond, type ReviewAct } from '../review.ts';
import type { People } from '../told.ts';
import type { ReviewContext } from './context.ts';
import { customerName } from './particulars.ts';
import type { Carried } from './queue-filter.ts';

/** How deep a heading lies. */
export type Level = 1 | 2 | 3;

/** The beginning of a part of a page, with its heading. */
export function block(name: string, heading: string, level: Level): Html {
  const id = `${name}-heading`;
  const title = level === 3 ? html`<h3 id="${id}">${heading}</h3>` : html`<h2 id="${id}">${heading}</h2>`;
  return html`<section class="block" aria-labelledby="${id}">${title}`;
}

/** What a status is called in the console, and its icon. */
const STATUS: Record<Payment['status'] | 'expired', [IconName, string]> = {
  pending: ['clock', phrase('Waiting for the customer')],
  requires_review: ['eye', phrase('To review')],
  approved: ['check', phrase('Approved')],
  rejected: ['cross', phrase('Rejected')],
  cancelled: ['slash', phrase('Cancelled')],
  expired: ['late', phrase('Expired')],
};

/** A payment's status now. Expired is distinguished from cancelled. */
export function statusStamp({ now, say }: Context, payment: Payment): Html {
  const { status, status_reason } = asOf(payment, now);
  const shown = status_reason === 'expired' ? 'expired' : status;
  const [name, word] = STATUS[shown];
  return html`<span class="stamp ${shown}">${icon(name)}<span>${say.of(word)}</span></span>`;
}

/** The page of a payment, with the list that it was opened from. */
export const addressOfPayment = ({ address }: Context, id: string, carried?: Carried) =>
  address(`/payments/${id}`, carried);

/** The page of a line of a bank statement. */
export const addressOfLine = ({ address }: Context, id: string) => address(`/statements/lines/${id}`);

/** An account number as people read it: an IBAN in groups of four. */
export const accountText = (account: string) => (IBAN.test(account) ? grouped(account) : account);
const IBAN = /^[A-Z]{2}\d{2}/;
export const accountNumber = (account: string) => literal(accountText(account));

/** The status with `mark` before it, the amount in large type, the customer and the merchant. */
export function heading(context: ReviewContext, payment: Payment, mark?: Html): Html {
  const money = context.money(payment.amount_minor, payment.currency);
  const amount = html`<span class="sum${isLong(money) && ' long'}"><bdi>${money}</bdi></span>`;
  return html`<div class="subject">
<p class="who">${mark}${statusStamp(context, payment)}</p>
<h2>${amount}</h2>
<p>${parties(context, payment)}</p>
${payment.mode === 'test' && html`<p class="ribbon">${context.say`Test: no money moves`}</p>`}
</div>`;
}

/** The customer and the merchant. */
export function parties({ say }: Context, payment: Payment): Html {
  const from = customerName(payment);
  const to = said(payment.merchant_name);
  return from === null ? say.html`Unnamed customer to ${to}` : say.html`${said(from)} to ${to}`;
}

/** How many of two approvals there are, and whose. */
export function secondLine(context: ReviewContext, payment: Payment, people: People): Html | null {
  const { say, principal, fourEyesAbove } = context;
  if (payment.status !== 'requires_review') return null;
  const [first] = approvalsOf(payment, people.barred);
  if (first) {
    const who = html`${nameOf(context, people.names, first.by)}, ${moment(context, first.at)}`;
    const isOwn = first.by === principal.id;
    const next = isOwn ? say`Another administrator must confirm it.` : say`Yours would be the second.`;
    return html`<div class="notice"><p><strong>${say`1 of 2 approvals:`}</strong> ${say.html`by ${who}`}. ${next}</p>${written(context, first)}</div>`;
  }
  if (!needsSecond(payment, fourEyesAbove)) return null;
  const limit = context.money(fourEyesAbove[payment.currency]!, payment.currency);
  return html`<p class="notice"><strong>${say`0 of 2 approvals:`}</strong> ${say`two administrators approve payments above ${limit}.`}</p>`;
}

/** What the first of two wrote for the second to read. */
function written({ say }: ReviewContext, { note, bank_reference }: ReviewAct): Html | null {
  if (note === undefined && bank_reference === undefined) return null;
  return pairs([
    [say`Bank reference`, bank_reference && literal(bank_reference)],
    [say`Note`, note && html`<span class="words">${said(note)}</span>`],
  ]);
}
