// The rows of the queue: who pays how much to whom, and what was seen of it so far.

import { age, isLong, nameOf } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import { DAY_MS } from '../../lib/time.ts';
import { claimOf, type Payment, sumMinor } from '../../payments/payment.ts';
import { icon } from '../../web/markup/icons.ts';
import { queuePlace } from '../queries.ts';
import { arrivalsOf, awaitsSecond, knownSoFar } from '../review.ts';
import type { ReviewContext } from './context.ts';
import type { People } from './panel.ts';
import { customerName, methodName, submissionOf } from './particulars.ts';

/** A payment that waits for longer stands out. */
const LATE_MS = DAY_MS;

interface Shown {
  /** The id of the payment that is open. */
  open: string | undefined;
  /** How many facts about each want a second look. */
  looks: readonly number[];
  /** The address that opens one. */
  to(id: string): string;
}

export function queueRows(
  context: ReviewContext,
  payments: readonly Payment[],
  people: People,
  { open, looks, to }: Shown,
): Html {
  const { say, money, now } = context;
  return html`<ol class="rows-list">${payments.map((payment, place) => {
    const { id } = payment;
    const current = id === open && html` aria-current="true"`;
    const amount = money(payment.amount_minor, payment.currency);
    const { since } = queuePlace(payment);
    const late = now - since > LATE_MS && ' late';
    const name = customerName(payment) ?? say`Unnamed customer`;
    return html`<li><a href="${to(id)}" data-key-row${current}>
<span class="who"><b><bdi>${name}</bdi></b>${marks(context, payment, people, looks[place]!)}</span>
<span class="sum${isLong(amount) && ' long'}"><bdi>${amount}</bdi></span>
<span class="what">${about(context, payment)}</span><span class="age${late}">${age(context, since)}</span></a></li>
`;
  })}</ol>`;
}

/** The merchant, its order, and a way to pay that is no transfer. */
function about({ say }: ReviewContext, payment: Payment): Html {
  const { merchant_name, merchant_reference } = payment;
  const method = submissionOf(payment)?.type === 'bank_transfer' ? null : methodName(payment, say);
  const order =
    merchant_reference === null ? html`${say`no order number`}` : html`<bdi>${merchant_reference}</bdi>`;
  return html`<bdi>${merchant_name}</bdi> · ${order}${method !== null && html` · <bdi>${method}</bdi>`}`;
}

/** What is known of it at a glance. */
function marks(context: ReviewContext, payment: Payment, people: People, looks: number): Html {
  const { say, now, principal } = context;
  const claim = claimOf(payment, now);
  const who =
    claim &&
    (claim.by === principal.id
      ? html`${say`Yours`}`
      : say.html`${nameOf(context, people.names, claim.by)} has it`);
  return html`${moneySeen(context, payment)}${looks > 0 && toLookAt(context, looks)}${
    awaitsSecond(payment, people.barred) && html` <span class="tag wait">${say`1 of 2`}</span>`
  }${payment.mode === 'test' && html` <span class="tag">${say`Test`}</span>`}${who && html` <span class="tag"><span>${who}</span></span>`}`;
}

/** How many facts want a second look. */
function toLookAt({ say }: ReviewContext, looks: number): Html {
  const text = say`${looks} to look at`;
  const spoken = html`<span aria-hidden="true">${looks}</span><span class="vh">${text}</span>`;
  return html` <span class="tag wait" title="${text}">${icon('warning')}${spoken}</span>`;
}

/** Money that arrived: a tick if it is what was asked for, else the difference. */
function moneySeen({ say, money }: ReviewContext, payment: Payment): Html | null {
  if (arrivalsOf(payment).length === 0) return null;
  const more = sumMinor([knownSoFar(payment) ?? 0, -payment.amount_minor]);
  if (more === 0)
    return html` <span class="tag good" title="${say`Money seen`}">${icon('tick')}<span class="vh">${say`Money seen`}</span></span>`;
  const difference = money(Math.abs(more), payment.currency);
  const text = more < 0 ? say`${difference} less` : say`${difference} more`;
  const hidden = html`<span class="vh">${say`Money seen:`} </span>`;
  return html` <span class="tag wait" title="${say`Money seen`}">${icon('warning')}${hidden}<bdi>${text}</bdi></span>`;
}
