// The page of one payment: all that is known of it, what can be done with it, and what its forms do.
import type { Faults } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { icon } from '../../web/markup/icons.ts';
import { addNote, claim, release } from '../act.ts';
import { parseNote } from '../review.ts';
import type { ReviewContext } from './context.ts';
import { paymentOf, undecided } from './decision.ts';
import { wording } from './decision-form.ts';
import { addressOfList, type Carried, carriedBy } from './list-place.ts';
import { DECISION, openPayment, stepLine } from './open-payment.ts';
import { addressOfPayment, peopleFor } from './panel.ts';

export async function paymentPage(context: ReviewContext, faults: Faults = {}): Promise<Outcome> {
  const payment = await paymentOf(context);
  const people = await peopleFor(context, [payment]);
  const title = `${context.money(payment.amount_minor, payment.currency)}, ${payment.merchant_name}`;
  const carried = carriedBy(context);
  const ways = stepLine(context, payment, people, { back: backTo(context, carried) });
  const content = await openPayment(context, {
    payment,
    people,
    level: 1,
    on: 'payment',
    carried,
    ways,
    faults,
  });
  const skip = { to: DECISION, text: context.say`Skip to the decision` };
  return { title, content, place: '/payments', layout: 'one', skip, faults };
}

/** The way back to the list that the page was opened from. */
function backTo(context: ReviewContext, carried: Carried): Html | null {
  const { say } = context;
  if (!carried.list) return null;
  const text = carried.list === 'queue' ? say`Back to the queue` : say`Back to the payments`;
  return html`<a href="${addressOfList(context, carried)}">${icon('back')} ${text}</a>`;
}

export async function takeNote(context: ReviewContext): Promise<Outcome> {
  const { form, journal, principal } = context;
  const payment = await paymentOf(context);
  const parsed = parseNote({ note: form.get('note') });
  if ('faults' in parsed) {
    const empty = (form.get('note') ?? '').trim() === '';
    const faults = empty ? { note: context.say`Enter a note` } : wording(context, parsed.faults);
    return paymentPage(context, faults);
  }
  const { id } = payment;
  await journal.commit((transaction) => addNote(transaction, principal, id, parsed.value), id);
  return { to: `${addressOfPayment(context, id, carriedBy(context))}#story-heading` };
}

export async function claimOrRelease(context: ReviewContext, act: 'claim' | 'release'): Promise<Outcome> {
  const { principal, journal, form, query } = context;
  const payment = await paymentOf(context);
  const { id } = payment;
  const force = form.get('force') === '1';
  try {
    await journal.commit(
      (transaction) =>
        act === 'claim' ? claim(transaction, principal, id, { force }) : release(transaction, principal, id),
      id,
    );
  } catch (error) {
    if (!(error instanceof OperationalError) || error.status !== 409) throw error;
    const takeOver = error.code === 'conflict';
    return undecided(
      context,
      await paymentOf(context),
      { text: html`${error.said(context.say)}`, takeOver },
      409,
    );
  }
  const carried = carriedBy(context);
  if (query.get('on') !== 'queue') return { to: addressOfPayment(context, id, carried) };
  return { to: `${addressOfList(context, carried, { open: id })}#open` };
}
