// A bank line for payments that the reviewer names: the form on its page, and what is typed there.
import { type Faults, field } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { parseTypedAmount } from '../../lib/money.ts';
import { type Payment, sumMinor } from '../../payments/payment.ts';
import { meaningOf } from '../../review/meaning.ts';
import { restOf } from '../../review/review.ts';
import { searchPayments } from '../../review/search-queries.ts';
import type { KeptLine } from '../kept.ts';
import { findLine } from '../line-queries.ts';
import { acceptLine, ignoreReasonFault, isUnclear, lineNotFound } from '../matching/line-acts.ts';
import { bankLine } from '../matching/line-evidence.ts';
import { acceptParts, type LinePart } from '../matching/line-parts.ts';
import { goOn } from './statement-outcome.ts';
import { lineAmount, lineForm, type StatementContext, typed } from './statement-page.ts';

/** Payments that one form names. */
const NAMED_MAXIMUM = 100;
/** Payments that are named where a search finds several. */
const FOUND_NAMED = 5;

/**
 * The form for payments that are not proposed: a card payout with its fee, a transfer without words, a debit that went back. `isAlone`:
 * none is proposed above it.
 */
export function namingForm(
  context: StatementContext,
  line: KeptLine,
  faults: Faults,
  isAlone: boolean,
): Html {
  const { form, say } = context;
  const isBack = line.direction === 'debit';
  const heading = isBack
    ? say`Money that went back of a payment`
    : isAlone
      ? say`The payments that it is for`
      : say`It is for other payments`;
  return html`<section class="block" aria-labelledby="for-heading"><h2 id="for-heading">${heading}</h2>
${lineForm(context, line.id, 'for', 'narrow')}${field({
  name: 'payments',
  label: isBack ? say`Payment` : say`Payments, one in each row`,
  hint: isBack
    ? say`Order number, payment number, transfer reference, email address or customer.`
    : say`Each by order number, payment number, transfer reference, email address or customer. After = the amount, if it is not what is due: ORDER-7 = 20.00`,
  value: form.get('payments') ?? '',
  fault: faults.payments,
  lines: isBack ? 1 : 3,
})}${
  !isBack &&
  field({
    name: 'charges',
    label: say`What the difference is, if they come to more than the line (optional)`,
    hint: say`For example the fee of the card company. It is booked as money out. What is left over stays open as a line of its own.`,
    value: form.get('charges') ?? '',
    fault: faults.charges,
  })
}${
  faults.as === undefined
    ? html`<p class="actions"><button class="secondary">${isBack ? say`Record that it went back` : say`Match with these payments`}</button>
<span>${lineAmount(context, line)}</span></p>`
    : asking(context, faults.as)
}</form></section>`;
}

/** Asks whether the line shows money that was recorded by hand: equal amounts prove nothing. */
const asking = (
  { say }: StatementContext,
  question: string,
): Html => html`<p class="notice" role="status">${question}</p>
<p class="actions"><button class="secondary" id="as" name="as" value="same">${say`It is the same money`}</button>
<button class="secondary" name="as" value="besides">${say`It is other money`}</button></p>`;

/** Reads a row of the form. Returns a sentence if it does not name one payment. */
async function named(
  context: StatementContext,
  row: string,
  currency: string,
): Promise<{ payment: Payment; amount_minor: number | undefined } | string> {
  const [text = '', amount] = row.split('=').map((one) => one.trim());
  const amount_minor = amount === undefined ? undefined : parseTypedAmount(amount, currency);
  if (amount !== undefined && !amount_minor)
    return context.say`“${amount!}” is not an amount: write it like 20.00`;
  const payment = await findPaymentNamed(context, text);
  return typeof payment === 'string' ? payment : { payment, amount_minor };
}

/** The payment that a text names. Returns a sentence if it does not name one. */
export async function findPaymentNamed(
  { database, now, say }: StatementContext,
  text: string,
): Promise<Payment | string> {
  const meaning = await meaningOf(database, text);
  const found = await searchPayments(database, meaning, undefined, FOUND_NAMED + 1, now);
  const [payment] = found;
  if (!payment) return say`No payment was found for “${text}”`;
  if (found.length === 1) return payment;
  const ids = found.slice(0, FOUND_NAMED).map(({ id, merchant_reference }) => merchant_reference ?? id);
  return say`Several payments were found for “${text}”: write the order number or the number of one (${ids.join(', ')})`;
}

/** What of a line is for a payment: what was typed, else what is due. Hundredths. */
const amountOf = ({
  payment,
  amount_minor,
}: {
  payment: Payment;
  amount_minor: number | undefined;
}): number => amount_minor ?? restOf(payment);

/** Whether it must be said if what a line would be for the payment is money that is known by hand. */
const isAsked = (line: KeptLine, payment: Payment, amount_minor: number): boolean =>
  isUnclear({ ...bankLine(line), amount_minor }, payment);

/** Takes the form. `again` shows the page of the line with what is wrong. */
export async function takeNamed(
  context: StatementContext,
  again: (context: StatementContext, faults: Faults) => Promise<Outcome>,
): Promise<Outcome> {
  const { database, journal, principal, params, form } = context;
  const id = params.line_id!;
  const line = await findLine(database, id);
  if (!line) throw lineNotFound();
  const written = (form.get('payments') ?? '').split(/\r?\n/).map((row) => row.trim());
  const rows = written.filter((row) => row !== '').slice(0, NAMED_MAXIMUM);
  if (rows.length === 0) return again(context, { payments: context.say`Say which payment it is for` });
  const found: { payment: Payment; amount_minor: number | undefined }[] = [];
  for (const row of rows) {
    const one = await named(context, row, line.currency);
    if (typeof one === 'string') return again(context, { payments: one });
    found.push(one);
  }
  const [{ payment: first, amount_minor: firstAmount }] = found as [(typeof found)[number]];
  const isWhole =
    found.length === 1 && (firstAmount === undefined || firstAmount === bankLine(line).amount_minor);
  const as = (['same', 'besides'] as const).find((one) => one === form.get('as'));
  const amountIn = (one: (typeof found)[number]) => (isWhole ? bankLine(line).amount_minor : amountOf(one));
  const asked =
    line.direction === 'credit' && as === undefined
      ? found.find((one) => isAsked(line, one.payment, amountIn(one)))
      : undefined;
  if (asked) {
    const { merchant_reference, id: number } = asked.payment;
    const about = merchant_reference ?? number;
    return again(context, {
      as: context.say`Money was recorded by hand for ${about}: say whether the line shows it, or more money.`,
    });
  }
  if (isWhole) {
    const pair = { line_id: id, payment_id: first.id, version: first.version, as };
    await journal.commit((transaction) => acceptLine(transaction, principal, pair), first.id);
    return goOn(context, id);
  }
  const parts = found.map((one): LinePart => {
    const { id: payment_id, version } = one.payment;
    return { payment_id, version, amount_minor: one.amount_minor, as };
  });
  const charges = typed(context, 'charges');
  const isMore = sumMinor(found.map(amountOf)) > bankLine(line).amount_minor;
  if (isMore && charges === '')
    return again(context, {
      charges: context.say`They come to more than the line: say what the difference is`,
    });
  const fault = charges === '' ? undefined : ignoreReasonFault(charges);
  if (fault) return again(context, { charges: fault });
  await journal.commit((transaction) =>
    acceptParts(transaction, principal, id, parts, isMore ? charges : null),
  );
  return goOn(context, id);
}
