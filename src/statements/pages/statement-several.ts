// What is done with several open lines at once: they are ignored with one reason, or are together the money of one payment.

import { type Faults, field, hasFaults, notice } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { requireStanding } from '../../administrators/standing.ts';
import { attributes, type Html, html } from '../../lib/html.ts';
import { findPayment } from '../../payments/queries.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import { dayInWords } from '../../review/told.ts';
import { isLineId } from '../kept.ts';
import { findLine } from '../line-queries.ts';
import { acceptLine, ignoreLine, ignoreReasonFault } from '../matching/line-acts.ts';
import type { BankLine } from '../matching/line-evidence.ts';
import { findPaymentNamed } from './line-for.ts';
import { STATEMENTS_PATH, type StatementContext, typed } from './statement-page.ts';

/** Lines of one form. */
const AT_ONCE = 200;
const SEVERAL_PATH = `${STATEMENTS_PATH}/several`;

/** The box that takes a line. `x` ticks the one in whose row the focus is. */
export function tickOf(context: StatementContext, line: BankLine): Html {
  const { say, money } = context;
  const label = say`Select ${money(line.amount_minor, line.currency)} of ${dayInWords(line.day, say)}`;
  const checked = context.form.has(line.id);
  const box = {
    type: 'checkbox',
    name: line.id,
    value: 'yes',
    checked,
    'data-key-tick': '',
    'aria-label': label,
  };
  return html`<input${attributes(box)}>`;
}

/** The list of lines as a form, with what can be done with those that are ticked. */
export function tickedForm(context: StatementContext, list: Html, faults: Faults = {}): Html {
  const { address, token, say } = context;
  const again = (name: string) => (hasFaults(faults) && context.form.get(name)) || '';
  return html`<form method="post" action="${address(SEVERAL_PATH)}#errors" novalidate>${token}
${list}
<section class="block narrow" aria-labelledby="several-heading"><h2 id="several-heading">${say`The ticked lines`}</h2>
${field({
  name: 'reason',
  label: say`They are for no payment: the reason`,
  value: again('reason'),
  fault: faults.reason,
  attributes: { 'data-key': 'i' },
})}<p class="actions"><button class="secondary" name="act" value="ignore">${say`Ignore the ticked lines`}</button></p>
${field({
  name: 'payment',
  label: say`Together they are the money of one payment`,
  hint: say`Order number, payment number, transfer reference, email address or customer.`,
  value: again('payment'),
  fault: faults.payment,
})}<p class="actions"><button class="secondary" name="act" value="together">${say`Match the ticked lines with it`}</button></p>
</section></form>`;
}

/** Takes the form. `again` shows the list with what is wrong or was done. */
export async function takeSeveral(
  context: StatementContext,
  again: (context: StatementContext, told: { faults?: Faults; done?: Html }) => Promise<Outcome>,
): Promise<Outcome> {
  const { form } = context;
  const ids = [...form.keys()].filter(isLineId).slice(0, AT_ONCE);
  // Enter in the field of the payment presses the form's first button.
  const isTogether =
    form.get('act') === 'together' || ((form.get('reason') ?? '') === '' && form.get('payment') !== '');
  const name = isTogether ? 'payment' : 'reason';
  if (ids.length === 0) return again(context, { faults: { [name]: context.say`Tick at least one line` } });
  const done = isTogether ? await together(context, ids) : await ignored(context, ids);
  return again(context, typeof done === 'string' ? { faults: { [name]: done } } : { done });
}

/** Ignores lines in one commit. Those that are not open any more are left. Returns a sentence for a reason that will not do. */
async function ignored(context: StatementContext, ids: readonly string[]): Promise<Html | string> {
  const { database, journal, principal, say } = context;
  const reason = typed(context, 'reason');
  const fault = ignoreReasonFault(reason);
  if (fault) return fault;
  const left = await journal.commit(async (transaction) => {
    await requireStanding(transaction, principal, 'decide');
    let left = 0;
    for (const id of ids)
      if ((await findLine(transaction, id))?.state === 'open')
        await ignoreLine(transaction, principal, id, reason);
      else left++;
    return left;
  });
  database.refresh();
  return told(context, say.count(ids.length - left, 'Ignored: {n} line.', 'Ignored: {n} lines.'), left);
}

/** Matches lines with one payment in one commit: all of them, or none. Returns a sentence for a payment that is not found. */
async function together(context: StatementContext, ids: readonly string[]): Promise<Html | string> {
  const { database, journal, principal, say } = context;
  const text = typed(context, 'payment');
  if (text === '') return context.say`Say which payment they are for`;
  const named = await findPaymentNamed(context, text);
  if (typeof named === 'string') return named;
  await journal.commit(async (transaction) => {
    for (const line_id of ids) {
      const payment = await findPayment(transaction, named.id);
      if (!payment) throw paymentNotFound();
      const pair = { line_id, payment_id: payment.id, version: payment.version };
      await acceptLine(transaction, principal, pair);
    }
  }, named.id);
  database.refresh();
  return told(
    context,
    say.count(ids.length, 'Matched with one payment: {n} line.', 'Matched with one payment: {n} lines.'),
    0,
  );
}

const told = ({ say }: StatementContext, text: string, left: number): Html =>
  notice(
    html`<p>${text}${left > 0 && html` ${say`Skipped, because they are no longer open: ${left}.`}`}</p>`,
  );
