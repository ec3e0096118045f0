// All that is known of a payment: what its merchant asked for and what its customer sent, whole, as a reviewer needs it.

import { literal, moment, rows, said, type TermRow } from '../../administrators/pages/parts.ts';
import { type Html, html, safeUrl } from '../../lib/html.ts';
import type { Instructions } from '../../payments/methods/method.ts';
import { grouped } from '../../payments/methods/transfer/creditor-reference.ts';
import type { Payment } from '../../payments/payment.ts';
import { dayInWords } from '../told.ts';
import type { ReviewContext } from './context.ts';

/** What the customer sent, as it is kept. */
interface Submission {
  method: string;
  type: string;
  name: string | null;
  language?: string;
  submitted_at: string;
  instructions?: Instructions;
  card?: { brand: string; last4: string };
  [field: string]: unknown;
}

interface Customer {
  name?: string | null;
  email?: string | null;
  phone?: string | null;
}

export const submissionOf = ({ submission }: Payment): Submission | null =>
  submission === null ? null : JSON.parse(submission);

const customerOf = ({ customer }: Payment): Customer =>
  customer === null ? {} : (JSON.parse(customer) ?? {});

/** What we call a way to pay that the configuration gives no name, by its type. */
export const METHOD_TYPES: Readonly<Record<string, string>> = {
  bank_transfer: 'Bank transfer',
  details: 'Contact details',
  manual: 'Manual',
  test_card: 'Test card',
};

/** What the way a customer chose is called: by the configuration, else by us; nothing before they chose. */
export function methodName(payment: Payment): string | null {
  const sent = submissionOf(payment);
  return sent && (sent.name ?? METHOD_TYPES[sent.type] ?? sent.method);
}

/** The payer: the name in the submission, else the one from the merchant, else the e-mail address. */
export function customerName(payment: Payment): string | null {
  const sent = submissionOf(payment);
  const { name, email } = customerOf(payment);
  const texts = [sent?.payer_name, sent?.transfer_name, name, sent?.payer_email, email];
  return (texts.find((text) => typeof text === 'string' && text !== '') as string | undefined) ?? null;
}

/** The values of a submission that are shown elsewhere than in its rows of fields. */
const TOLD = new Set(['method', 'type', 'name', 'language', 'submitted_at', 'instructions', 'card']);

const FIELDS: Record<string, [label: string, show: (text: string) => Html]> = {
  payer_name: ['Name', said],
  payer_email: ['Email address', literal],
  payer_phone: ['Phone', literal],
  transfer_name: ['Name on their account', said],
  transfer_account: ['Their account', literal],
  customer_reference: ['Their reference', said],
  note: ['Message to the merchant', (text) => html`<span class="words" dir="auto">${text}</span>`],
};

/** What the customer sent, whole; nothing before they did. */
export function sent(context: ReviewContext, payment: Payment, level: 2 | 3): Html | null {
  const submission = submissionOf(payment);
  if (!submission) return null;
  const { method, card, language, submitted_at } = submission;
  const list: TermRow[] = [
    ['Way to pay', html`${said(methodName(payment)!)} <span class="muted">${literal(method)}</span>`],
    ['Card', card ? html`${said(card.brand)} ending in ${literal(card.last4)}` : null],
  ];
  const others: TermRow[] = [];
  for (const [name, value] of Object.entries(submission)) {
    if (TOLD.has(name) || value === null || value === undefined) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const known = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (known) list.push([known[0], known[1](text)]);
    else others.push([name, said(text)]);
  }
  const { instructions } = submission;
  return html`${rows([
    ...list,
    ...others,
    ['Language', language ? literal(language) : null],
    ['Sent', moment(context, Date.parse(submitted_at))],
  ])}
${instructions && told(instructions, level)}`;
}

/** What the customer was shown to do, as it stood then. */
function told(instructions: Instructions, level: 2 | 3): Html {
  const words = 'What they were told to do';
  const heading = level === 2 ? html`<h3>${words}</h3>` : html`<h4>${words}</h4>`;
  if (instructions.kind === 'text')
    return html`${heading}\n<p class="words quoted" dir="auto">${instructions.text}</p>`;
  return html`${heading}
${rows(transferRows(instructions))}`;
}

/** The reference that the customer was told to transfer with, or null. */
export function toldReference(payment: Payment): string | null {
  const instructions = submissionOf(payment)?.instructions;
  return instructions?.kind === 'transfer' ? instructions.reference : null;
}

/** What a transfer carries and into which account it goes. */
export function transferRows({ account, reference }: Instructions & { kind: 'transfer' }): TermRow[] {
  return [
    ['Reference to look for', html`<strong>${literal(grouped(reference))}</strong>`],
    ['Account holder', account.holder && said(account.holder)],
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

/** What the merchant asked for. */
export function asked(context: ReviewContext, payment: Payment): Html {
  const { name, email, phone } = customerOf(payment);
  return rows([
    [
      'Merchant',
      html`${said(payment.merchant_name)} <span class="muted">${literal(payment.merchant_id)}</span>`,
    ],
    ['Mode', payment.mode === 'test' ? 'Test: no money moves' : 'Live'],
    ['Reference', payment.merchant_reference && said(payment.merchant_reference)],
    [
      'Description',
      payment.description && html`<span class="words" dir="auto">${payment.description}</span>`,
    ],
    ['Customer’s name', name && said(name)],
    ['Customer’s email', email && literal(email)],
    ['Customer’s phone', phone && literal(phone)],
    ['Created', moment(context, payment.created_at)],
    ['Pay by', html`<time datetime="${payment.pay_by}">${dayInWords(payment.pay_by)}</time>`],
    ['The link ends', moment(context, payment.expires_at)],
    ['New link asked for', payment.link_requested_at && moment(context, payment.link_requested_at)],
    ['Leads back to', webAddress(payment.return_url)],
    ['When cancelled', webAddress(payment.cancel_url)],
    ['Number', literal(payment.id)],
  ]);
}

/** The merchant's own data: a row for each name, and all of it as it was sent. */
export function metadata({ metadata: text }: Payment): Html | null {
  if (text === null) return null;
  const data: Record<string, unknown> = JSON.parse(text);
  const entries = Object.entries(data);
  if (entries.length === 0) return null;
  const sent = JSON.stringify(data, null, 2);
  return html`<dl class="terms">
${entries.map(
  ([name, value]) =>
    html`<div><dt dir="auto">${name}</dt><dd>${said(typeof value === 'string' ? value : JSON.stringify(value))}</dd></div>\n`,
)}</dl>
<details class="data"><summary>As it was sent</summary>
<pre class="raw" tabindex="0" role="region" aria-label="Metadata as JSON" dir="ltr" translate="no">${sent}</pre></details>`;
}
