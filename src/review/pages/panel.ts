// A payment as a reviewer sees it before deciding: its claim, the possible acts, facts that help, and the submission.
import { may } from '../../administrators/administrator.ts';
import { isLong, literal, moment, type Names, nameOf, rows, said } from '../../administrators/pages/parts.ts';
import type { Context } from '../../administrators/pages/route.ts';
import { barredAmong, namesOf } from '../../administrators/queries.ts';
import { type Html, html } from '../../lib/html.ts';
import { asOf, MOVES, type Payment } from '../../payments/payment.ts';
import { type IconName, icon } from '../../web/markup/parts.ts';
import { claimOf } from '../claim.ts';
import { approvalsOf, awaitsSecond, needsSecond, type ReviewAct, reviewersOf } from '../review.ts';
import type { ReviewContext } from './context.ts';
import type { Carried } from './list-place.ts';
import { customerName } from './particulars.ts';

/** Where a panel stands, which its forms and links keep: beside the queue, or on the payment's own page. */
export interface PanelPlace {
  on: 'queue' | 'payment';
  carried: Carried;
}

/** How deep a heading lies: beneath the page's own, or beneath that of the payment beside the queue. */
export type Level = 2 | 3;

/** The beginning of a part of a page, with its heading. */
export function block(name: string, heading: string, level: Level): Html {
  const id = `${name}-heading`;
  const title = level === 2 ? html`<h2 id="${id}">${heading}</h2>` : html`<h3 id="${id}">${heading}</h3>`;
  return html`<section class="block" aria-labelledby="${id}">${title}`;
}

/** The administrators in the story of some payments: their names, and which of them may not decide any more. */
export interface People {
  names: Names;
  barred: ReadonlySet<string>;
}

export async function peopleFor({ database }: ReviewContext, payments: readonly Payment[]): Promise<People> {
  const reviewers = reviewersOf(payments);
  const claims = payments.flatMap(({ claimed_by }) => claimed_by ?? []);
  return {
    names: await namesOf(database, [...reviewers, ...claims]),
    barred: await barredAmong(database, reviewers),
  };
}

/** What a status is called in the console, and its icon. */
const STATUS: Record<Payment['status'] | 'expired', [IconName, string]> = {
  pending: ['clock', 'Waiting for the customer'],
  requires_review: ['eye', 'To review'],
  approved: ['check', 'Approved'],
  rejected: ['cross', 'Rejected'],
  cancelled: ['slash', 'Cancelled'],
  expired: ['late', 'Expired'],
};

/** A payment's status at `now`. Expired is distinguished from cancelled. */
export function statusStamp(payment: Payment, now: number): Html {
  const { status, status_reason } = asOf(payment, now);
  const shown = status_reason === 'expired' ? 'expired' : status;
  const [name, word] = STATUS[shown];
  return html`<p class="stamp ${shown}">${icon(name)}<span>${word}</span></p>`;
}

/** The page of a payment, with the list that it was opened from. */
export const addressOfPayment = ({ address }: Context, id: string, carried?: Carried) =>
  address(`/payments/${id}`, carried);

/** The page of a line of a bank statement. */
export const addressOfLine = ({ address }: Context, id: string) => address(`/statements/lines/${id}`);

/** The amount in large type, the customer and the merchant. */
export function heading(context: ReviewContext, payment: Payment, level: 'h1' | 'h2'): Html {
  const money = context.money(payment.amount_minor, payment.currency);
  const amount = html`<span class="sum${isLong(money) && ' long'}"><bdi>${money}</bdi></span>`;
  return html`<div class="subject">
${statusStamp(payment, context.now)}
${level === 'h1' ? html`<h1>${amount}</h1>` : html`<h2>${amount}</h2>`}
<p>${parties(payment)}</p>
${payment.mode === 'test' && html`<p class="ribbon">Test payment: no money moves</p>`}
</div>`;
}

/** The customer and the merchant. */
export function parties(payment: Payment): Html {
  const from = customerName(payment);
  return html`${from === null ? 'Somebody unnamed' : said(from)} to ${said(payment.merchant_name)}`;
}

/** The claim, the state and the possible acts. Administrators who may not decide see no forms. */
export function doings(
  context: ReviewContext,
  payment: Payment,
  people: People,
  place: PanelPlace,
): Html | null {
  const { principal, address } = context;
  const decides = may(principal.role, 'decide');
  const { status } = asOf(payment, context.now);
  if (decides && MOVES.record.from.includes(status)) return recording(context, payment, place);
  if (status !== 'requires_review') return null;
  const claim = claimOf(payment, context.now);
  const isOthers = claim !== undefined && claim.by !== principal.id;
  const isOwn = approvalsOf(payment, people.barred).some(({ by }) => by === principal.id);
  const link = (act: 'approve' | 'reject') =>
    address(`/payments/${payment.id}/${act}`, { ...place.carried, version: String(payment.version) });
  const approving = !isOwn && html`<a class="primary" href="${link('approve')}" data-key="a">Approve…</a>`;
  const rejecting = html`<a class="secondary" href="${link('reject')}" data-key="r">Reject…</a>`;
  return html`<div class="doings">
${secondLine(context, payment, people)}
${
  claim &&
  html`<p class="claim">Claimed by ${nameOf(context, people.names, claim.by)} until ${moment(context, claim.until)}</p>`
}
${
  decides &&
  html`<div class="acts">
${!isOthers && html`${approving} ${rejecting} `}${claimForms(context, payment, place, claim === undefined ? 'free' : isOthers ? 'others' : 'mine')}
</div>`
}
</div>`;
}

/** The link to record money that came unannounced or late. */
function recording({ address }: ReviewContext, { id, version }: Payment, { carried }: PanelPlace): Html {
  const target = address(`/payments/${id}/record`, { ...carried, version: String(version) });
  return html`<div class="doings">
<div class="acts"><a class="secondary" href="${target}" data-key="m">Record money…</a></div>
</div>`;
}

/** How many of two approvals there are, and whose. */
export function secondLine(context: ReviewContext, payment: Payment, people: People): Html | null {
  if (payment.status !== 'requires_review') return null;
  const [first] = approvalsOf(payment, people.barred);
  if (awaitsSecond(payment, people.barred) && first) {
    const who = html`by ${nameOf(context, people.names, first.by)}, ${moment(context, first.at)}`;
    const isOwn = first.by === context.principal.id;
    const next = isOwn ? 'Another administrator must confirm it.' : 'Yours would be the second.';
    return html`<p class="notice"><strong>1 of 2 approvals:</strong> ${who}. ${next}</p>${written(first)}`;
  }
  if (!needsSecond(payment, context.fourEyesAbove)) return null;
  const limit = context.money(context.fourEyesAbove[payment.currency]!, payment.currency);
  return html`<p class="notice"><strong>0 of 2 approvals:</strong> above ${limit} two administrators approve.</p>`;
}

/** What the first of two wrote for the second to read. */
function written({ note, bank_reference }: ReviewAct): Html | null {
  if (note === undefined && bank_reference === undefined) return null;
  return rows([
    ['Their bank reference', bank_reference === undefined ? null : literal(bank_reference)],
    ['Their note', note === undefined ? null : html`<span class="words">${said(note)}</span>`],
  ]);
}

function claimForms(
  { address, token }: ReviewContext,
  { id }: Payment,
  { on, carried }: PanelPlace,
  claim: 'free' | 'mine' | 'others',
): Html {
  const form = (act: 'claim' | 'release', label: string, force = false) => {
    const target = address(`/payments/${id}/${act}`, { ...carried, on });
    const forced = force && html`<input type="hidden" name="force" value="1">`;
    return html`<form method="post" action="${target}">${token}${forced}<button class="quiet" data-key="e">${label}</button></form>`;
  };
  if (claim === 'mine') return form('release', 'Release');
  return claim === 'free' ? form('claim', 'Claim') : form('claim', 'Take over', true);
}
