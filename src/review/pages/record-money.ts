// Recording money that arrived for a payment: a page that asks how much, when and by which reference.

import { type Faults, field, moment, notice, pairs, said } from '../../administrators/pages/parts.ts';
import { questionPage } from '../../administrators/pages/question-page.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { parseTypedAmount } from '../../lib/money.ts';
import type { Payment } from '../../payments/payment.ts';
import { parseReceivedMoney, recordMoney, refuseMoney, takesMore } from '../record-money.ts';
import { isDoneAlready, knownSoFar } from '../review.ts';
import { dayInWords } from '../told.ts';
import type { ReviewContext } from './context.ts';
import { bankReferenceField, type Filled, filledBefore, noteField, paymentOf, wording } from './decision.ts';
import { addressOfPayment, heading, instructionsFor, transferRows } from './panel.ts';
import { carriedBy } from './queue-filter.ts';

export async function recordPage(context: ReviewContext): Promise<Outcome> {
  const payment = await paymentOf(context);
  return asking(context, payment, { filled: filledBefore(context) });
}

interface Asked {
  filled: Filled;
  faults?: Faults;
  /** Why nothing was recorded, in a sentence. */
  refusal?: string;
  /** Whether it must be said if the money is known already. */
  isAlike?: boolean;
}

/** The page that asks. Throws `invalid_status` where the payment takes no money, saying why. */
async function asking(
  context: ReviewContext,
  payment: Payment,
  { filled, faults = {}, refusal, isAlike = false }: Asked,
): Promise<Outcome> {
  await refuseMoney(context.database, context, payment);
  const instructions = await instructionsFor(context, payment);
  const isStale = filled.version !== undefined && filled.version !== String(payment.version);
  const { say } = context;
  const changed = refusal ?? (isStale ? say`The payment has changed since you looked at it.` : undefined);
  const version = String(payment.version);
  const carried = carriedBy(context);
  const page = questionPage(context, {
    title: say`Record money for this payment`,
    place: '/payments',
    heading: html`${say`Record money for this payment`}`,
    lead: html`${changed && notice(html`<p>${changed} ${say`Nothing was recorded yet.`}</p>`, 'warn')}
${heading(context, payment)}
${pairs([
  ...(instructions ? transferRows(context, instructions) : []),
  [say`Order`, payment.merchant_reference && said(payment.merchant_reference)],
  [say`Created`, moment(context, payment.created_at)],
  [say`Pay by`, html`<time datetime="${payment.pay_by}">${dayInWords(payment.pay_by, say)}</time>`],
  [say`Link expires`, moment(context, payment.expires_at)],
])}
<p>${
      takesMore(payment)
        ? say`${context.money(knownSoFar(payment) ?? 0, payment.currency)} is known already. Use this for money that came besides.`
        : say`Use this for money that arrived although the customer never said so, or after the payment had ended. The payment then waits for review.`
    }</p>`,
    path: `/payments/${payment.id}/record`,
    query: carried,
    fields: html`<input type="hidden" name="version" value="${version}">
${fieldsOf(context, payment, filled, faults)}`,
    button: isAlike ? say`It is other money` : say`Record the money`,
    ...(isAlike && {
      named: {
        name: 'as',
        value: 'besides',
        other: { value: 'same', button: say`It is the same money` },
      },
    }),
    back: addressOfPayment(context, payment.id, carried),
    faults,
  });
  return refusal === undefined ? page : { ...page, status: 409 };
}

function fieldsOf(
  context: ReviewContext,
  { amount_minor, currency }: Payment,
  filled: Filled,
  faults: Faults,
): Html {
  const { money, say } = context;
  return html`${field({
    name: 'amount',
    label: say`Amount that arrived, in ${currency}`,
    hint: say`As on the bank statement. ${money(amount_minor, currency)} was asked for; it may be less or more.`,
    value: filled.amount ?? '',
    fault: faults.amount,
    attributes: { inputmode: 'decimal', dir: 'ltr' },
  })}${field({
    name: 'received_on',
    label: say`Day on which it arrived`,
    value: filled.received_on ?? '',
    fault: faults.received_on,
    attributes: { type: 'date', dir: 'ltr' },
  })}${bankReferenceField(context, filled, faults)}${noteField(context, filled, faults)}`;
}

export async function takeRecord(context: ReviewContext): Promise<Outcome> {
  const { form, journal, principal, now } = context;
  const payment = await paymentOf(context);
  const { id, currency } = payment;
  const filled: Filled = Object.fromEntries(form);
  if (filled.version === undefined)
    return asking(context, payment, { filled, refusal: context.say`Look at the payment again.` });
  const { amount = '', received_on, bank_reference, note, version, as } = filled;
  const minor = parseTypedAmount(amount, currency);
  const said = { received_on, bank_reference, note, version, as };
  const parsed = parseReceivedMoney({ ...said, amount: minor && minor / 100 }, currency, now);
  if ('faults' in parsed)
    return asking(context, payment, { filled, faults: worded(context, parsed.faults, filled, currency) });
  try {
    await journal.commit((transaction) => recordMoney(transaction, principal, id, parsed.value), id);
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    const now = await paymentOf(context);
    const { version: seen, as: told, ...said } = parsed.value;
    const done = { act: 'record', ...said } as const;
    // A payment past its time was expired first, which counts as a version.
    const isExpiredFirst = isDoneAlready(now, principal.id, seen && seen + 1, { ...done, was: 'expired' });
    if (isExpiredFirst || isDoneAlready(now, principal.id, seen, done))
      return { to: addressOfPayment(context, id, carriedBy(context)) };
    const isAlike = error.code === 'invalid_status' && told === null && takesMore(now);
    if (error.code !== 'conflict' && !isAlike) throw error;
    return asking(context, now, { filled, refusal: error.said(context.say), isAlike });
  }
  return { to: addressOfPayment(context, id, carriedBy(context)) };
}

/** The faults in words that say what to do. */
function worded(
  context: ReviewContext,
  faults: Faults,
  { amount, received_on }: Filled,
  currency: string,
): Faults {
  const { say } = context;
  const words: Record<string, string> = { ...wording(context, faults) };
  if (faults.amount && !amount?.trim()) words.amount = say`Enter the amount that arrived`;
  else if (faults.amount && parseTypedAmount(amount!, currency) === undefined)
    words.amount = say`Amount must be a number like 49.90`;
  if (faults.received_on && !received_on?.trim()) words.received_on = say`Enter the day on which it arrived`;
  return words;
}
