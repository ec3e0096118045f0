// Claiming a payment before deciding it, and letting it go, so that two people do not look into the same one.
import { OperationalError } from '../lib/errors.ts';
import { html } from '../lib/html.ts';
import { claim, release } from '../review/claim.ts';
import { paymentOf, undecided } from './decision.ts';
import { addressOfList, carriedBy } from './list-place.ts';
import { addressOfPayment } from './panel.ts';
import type { Context, Outcome } from './route.ts';

export async function claimOrRelease(context: Context, act: 'claim' | 'release'): Promise<Outcome> {
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
