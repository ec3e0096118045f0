// Pieces of every page that shows a payment: its status, amount and parties, its two approvals, and all that was asked for and sent.

import { isLong, literal, moment, nameOf, pairs, said } from '../../administrators/pages/parts.ts';
import type { Context } from '../../administrators/pages/route.ts';
import { entriesOf } from '../../journal/queries.ts';
import { type Html, html, safeUrl } from '../../lib/html.ts';
import { phrase, type Say } from '../../lib/phrases.ts';
import type { Instructions } from '../../payments/methods/offer.ts';
import { grouped } from '../../payments/methods/transfer/creditor-reference.ts';
import { asOf, customerOf, isDecided, type Payment } from '../../payments/payment.ts';
import { checkoutUrl } from '../../payments/present.ts';
import { sentOf } from '../../payments/submit.ts';
import { type IconName, icon } from '../../web/markup/icons.ts';
import type { TermRow } from '../../web/markup/parts.ts';
import { approvalsOf, needsSecond, type ReviewAct } from '../review.ts';
import type { People } from '../told.ts';
import type { ReviewContext } from './context.ts';
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

/**
 * The expected transfer: as the customer was told when they sent the form, else as checkout shows it now. Null if no transfer is
 * expected, and for an erased payment, because erasing changes what its reference is made of.
 */
export async function instructionsFor(
  { database, offer, now }: ReviewContext,
  payment: Payment,
): Promise<(Instructions & { kind: 'transfer' }) | null> {
  const submission = sentOf(payment);
  if (submission) return submission.instructions?.kind === 'transfer' ? submission.instructions : null;
  if (isDecided(asOf(payment, now))) return null;
  const entries = await entriesOf(database, payment.id);
  const isErased = entries.some(({ action }) => action === 'payment.erased');
  return isErased ? null : (offer.transferFor(payment) ?? null);
}

/** What we call a way to pay that the configuration gives no name, by its type. */
export const METHOD_TYPES: Readonly<Record<string, string>> = {
  bank_transfer: phrase('Bank transfer'),
  details: phrase('Contact details'),
  manual: phrase('Manual'),
  test_card: phrase('Test card'),
};

/** What the way a customer chose is called: by the configuration, else by us; nothing before they chose. */
export function methodName(payment: Payment, say: Say): string | null {
  const sent = sentOf(payment);
  if (!sent) return null;
  const type = METHOD_TYPES[sent.type];
  return sent.name ?? (type === undefined ? sent.method : say.of(type));
}

/** The payer: the name in the submission, else the one from the merchant, else the e-mail address. */
export function customerName(payment: Payment): string | null {
  const sent = sentOf(payment);
  const { name, email } = customerOf(payment);
  const texts = [sent?.payer_name, sent?.transfer_name, name, sent?.payer_email, email];
  return texts.find((text) => text) ?? null;
}

/** The values of a submission that are shown elsewhere: beside what was asked for, or in a way of their own. */
const TOLD = new Set([
  ...['method', 'type', 'name', 'language', 'submitted_at', 'instructions', 'card', 'note'],
  ...['payer_name', 'payer_email', 'payer_phone', 'transfer_name', 'transfer_account', 'customer_reference'],
]);

/** What the customer sent besides what is compared; nothing before they did. */
export function sent(context: ReviewContext, payment: Payment): Html | null {
  const { say } = context;
  const submission = sentOf(payment);
  if (!submission) return null;
  const { method, type, card, language, instructions, note } = submission;
  const others: TermRow[] = Object.entries(submission).flatMap(([name, value]) => {
    if (TOLD.has(name) || value === null || value === undefined) return [];
    return [[name, said(typeof value === 'string' ? value : JSON.stringify(value))]];
  });
  return html`${pairs([
    [
      say`Way to pay`,
      html`${said(methodName(payment, say)!)}${method !== type && html` <span class="muted">${literal(method)}</span>`}`,
    ],
    [say`Card`, card ? say.html`${said(card.brand)} ending in ${literal(card.last4)}` : null],
    [
      say`Message`,
      typeof note === 'string' && note !== '' && html`<span class="words" dir="auto">${note}</span>`,
    ],
    ...others,
    [say`Language`, language ? new Intl.DisplayNames(say.tag, { type: 'language' }).of(language) : null],
    ...(instructions ? told(context, instructions) : []),
  ])}`;
}

/** What the customer was shown to do, as it stood then, besides the account and the reference. */
function told({ say }: ReviewContext, instructions: Instructions): TermRow[] {
  if (instructions.kind === 'text')
    return [
      [say`What they were told`, html`<span class="words quoted" dir="auto">${instructions.text}</span>`],
    ];
  const { bic } = instructions.account;
  return [['BIC', bic && literal(bic)]];
}

/** What a transfer carries and into which account it goes. */
export function transferRows(
  { say }: ReviewContext,
  { account, reference }: Instructions & { kind: 'transfer' },
): TermRow[] {
  return [
    [say`Reference to look for`, html`<strong>${literal(grouped(reference))}</strong>`],
    [say`Account holder`, account.holder && said(account.holder)],
    ['IBAN', account.iban && literal(grouped(account.iban))],
    ['BIC', account.bic && literal(account.bic)],
    ['UPI', account.upi_id && literal(account.upi_id)],
    ['PIX', account.pix_key && literal(account.pix_key)],
    ...(account.rows ?? []).map(({ label, value }): TermRow => [label, literal(value)]),
  ];
}

/** An address the merchant gave: followed only where its scheme runs nothing, and without telling where from. */
function webAddress(text: string | null): Html | null {
  if (text === null) return null;
  const target = /^https?:/i.test(text) ? safeUrl(text) : undefined;
  return target === undefined
    ? literal(text)
    : html`<a href="${target}" rel="noreferrer noopener nofollow external">${literal(text)}</a>`;
}

/** What the merchant wrote with the payment, its own data among it. */
export function ordered(context: ReviewContext, payment: Payment): Html {
  const { say } = context;
  const { id, merchant_id, merchant_reference, description } = payment;
  const page = html`<a href="${checkoutUrl(context.checkoutBaseUrl, id)}" rel="noreferrer noopener">${say`Open it as the customer sees it`}</a>`;
  const data: Record<string, unknown> = payment.metadata === null ? {} : JSON.parse(payment.metadata);
  const own = Object.entries(data).map(([name, value]): TermRow => {
    return [html`<bdi>${name}</bdi>`, said(typeof value === 'string' ? value : JSON.stringify(value))];
  });
  return html`${pairs([
    [say`Order`, merchant_reference && said(merchant_reference)],
    [say`For`, description && html`<span class="words" dir="auto">${description}</span>`],
    ...own,
    [say`Their page`, page],
    [say`Link expires`, moment(context, payment.expires_at)],
    [say`New link asked for`, payment.link_requested_at && moment(context, payment.link_requested_at)],
    [say`Leads back to`, webAddress(payment.return_url)],
    [say`When cancelled`, webAddress(payment.cancel_url)],
    [say`Merchant`, literal(merchant_id)],
    [say`Payment`, literal(id)],
  ])}`;
}
