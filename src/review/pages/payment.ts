// The page of one payment: what it is, all that was asked and sent, what happened, what administrators wrote, and who claims it.
import { may } from '../../administrators/administrator.ts';
import { type Faults, field, notice, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { ACKNOWLEDGED } from '../../journal/row-fault.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Payment } from '../../payments/payment.ts';
import { checkoutUrl } from '../../payments/present.ts';
import { isPaymentAsRecorded } from '../../payments/record.ts';
import { claim, release } from '../claim.ts';
import { addNote } from '../note.ts';
import { NOTE_MAXIMUM, parseNote } from '../review.ts';
import { type TimelineItem, timelineOf } from '../timeline.ts';
import type { ReviewContext } from './context.ts';
import { paymentOf, undecided } from './decision.ts';
import { wording } from './decision-form.ts';
import { panel } from './evidence.ts';
import { addressOfList, type Carried, carriedBy } from './list-place.ts';
import { addressOfPayment, block, heading, peopleFor } from './panel.ts';
import { placeInHistory, timeline } from './timeline.ts';

export async function paymentPage(context: ReviewContext, faults: Faults = {}): Promise<Outcome> {
  const payment = await paymentOf(context);
  const { database, checkpoints, principal } = context;
  const people = await peopleFor(context, [payment]);
  const items = await timelineOf(database, payment, checkpoints, context.timeZone);
  const title = `${context.money(payment.amount_minor, payment.currency)}, ${payment.merchant_name}`;
  const carried = carriedBy(context);
  const content = html`${backTo(context, carried)}${heading(context, payment, 'h1')}
${await warnings(context, payment, items)}
<div class="columns">
<div class="column">
${await panel(context, payment, people, { on: 'payment', carried })}
${block('page', 'The customer’s page', 2)}
<p><a href="${checkoutUrl(context.checkoutBaseUrl, payment.id)}" rel="noreferrer noopener">Open it as the customer sees it</a></p>
</section>
</div>
<div class="column">
<section class="block" aria-labelledby="story"><h2 id="story">What happened</h2>
${timeline(context, items)}
</section>
${may(principal.role, 'decide') && noteForm(context, payment, faults)}
${block('place', 'Its place in the sealed history', 2)}
${placeInHistory(context, items)}
</section>
</div>
</div>`;
  return { title, content, place: '/payments', faults };
}

/** The way back to the list that the page was opened from. */
const backTo = (context: ReviewContext, carried: Carried): Html | undefined =>
  carried.list &&
  html`<p class="ways"><a href="${addressOfList(context, carried)}">Back to the ${carried.list}</a></p>\n`;

/** The warning that the payment was changed outside the service. Until that is acknowledged, no act on it is possible. */
async function warnings(
  { database, address }: ReviewContext,
  payment: Payment,
  items: readonly TimelineItem[],
): Promise<Html | false> {
  if (!(await isPaymentAsRecorded(database, payment)))
    return html`<div class="errors" role="alert"><p><strong>Changed outside the service.</strong>
What stands here is not what the history says, so no act on it is possible. Pay nothing out on it.
Ask the operator to run <code>counterfoil audit verify</code>.</p></div>`;
  const known = items.findLast(({ action }) => action === ACKNOWLEDGED);
  if (!known) return false;
  const entry = address('/audit', { before: String(known.number + 1) });
  return notice(
    html`<p><strong>Changed outside the service.</strong>
The operator recorded that in <a href="${entry}#entry-${known.number}">entry ${known.number}</a>: ${said(String(known.facts.reason))}</p>`,
    'warn',
  );
}

function noteForm(context: ReviewContext, { id }: Payment, faults: Faults): Html {
  const { address, token, form } = context;
  return html`${block('note', 'Add a note', 2)}
<form method="post" action="${address(`/payments/${id}/notes`, carriedBy(context))}#errors" novalidate>
${token}${field({
  name: 'note',
  label: 'Internal note',
  hint: `For administrators alone. At most ${NOTE_MAXIMUM} characters.`,
  value: form.get('note') ?? '',
  fault: faults.note,
  lines: 3,
})}<button class="secondary">Add the note</button>
</form>
</section>`;
}

export async function takeNote(context: ReviewContext): Promise<Outcome> {
  const { form, journal, principal, request } = context;
  const payment = await paymentOf(context);
  const parsed = parseNote({ note: form.get('note') });
  if ('faults' in parsed) {
    const empty = (form.get('note') ?? '').trim() === '';
    const faults = empty ? { note: 'Enter a note' } : wording(parsed.faults);
    return paymentPage(context, faults);
  }
  const { id } = payment;
  await journal.commit((transaction) => addNote(transaction, principal, id, parsed.value, request.id), id);
  return { to: `${addressOfPayment(context, id, carriedBy(context))}#story` };
}

export async function claimOrRelease(context: ReviewContext, act: 'claim' | 'release'): Promise<Outcome> {
  const { principal, journal, request, form, query } = context;
  const payment = await paymentOf(context);
  const { id } = payment;
  const force = form.get('force') === '1';
  try {
    await journal.commit(
      (transaction) =>
        act === 'claim'
          ? claim(transaction, principal, id, { force }, request.id)
          : release(transaction, principal, id, request.id),
      id,
    );
  } catch (error) {
    if (!(error instanceof OperationalError) || error.status !== 409) throw error;
    const takeOver = error.code === 'conflict';
    return undecided(context, await paymentOf(context), { text: html`${error.message}`, takeOver }, 409);
  }
  const carried = carriedBy(context);
  if (query.get('on') !== 'queue') return { to: addressOfPayment(context, id, carried) };
  return { to: addressOfList(context, carried, { open: id }) };
}
