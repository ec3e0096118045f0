// The letters to merchants and administrators, in the language of the console.
import { counted } from '../../lib/counted.ts';
import { html } from '../../lib/html.ts';
import type { Payment } from '../../payments/payment.ts';
import type { QueueCount } from '../../review/queries.ts';
import type { Endpoint } from '../../webhooks/endpoint.ts';
import type { Alert } from '../timed.ts';
import { type LetterContent, unlinked } from './markup.ts';

/** The name that letters of the installation itself are sent under. */
export const PRODUCT = 'Counterfoil';
const HINT = html`If the button does not work, open this address:`;
const ENGLISH = { tag: 'en', direction: 'ltr' } as const;

interface Told {
  /** Money and moments, in the console's language. */
  money(minor: number, currency: string): string;
  moment(ms: number): string;
  /** Without a slash at its end. */
  consoleUrl: string;
}

const letter = (
  content: Pick<LetterContent, 'subject' | 'heading' | 'paragraphs'> & Partial<LetterContent>,
): LetterContent => ({ language: ENGLISH, brand: PRODUCT, notes: [], ...content });

const toMerchant = (merchant: string) =>
  html`You get this letter because your address is that of the merchant ${unlinked(merchant)}.`;

/** Something about a payment that its merchant ought to know. */
export function paymentLetter(
  kind: 'needs_attention' | 'link_requested',
  payment: Payment,
  { money, moment }: Told,
): LetterContent {
  const { id, merchant_name, merchant_reference, amount_minor, currency, created_at, description } = payment;
  const amount = money(amount_minor, currency);
  const named = merchant_reference === null ? '' : ` (${merchant_reference})`;
  const isAsked = kind === 'link_requested';
  return letter({
    subject: isAsked
      ? `A customer asks for a new link: ${amount}${named}`
      : `A payment waits for its review: ${amount}${named}`,
    heading: isAsked ? html`A customer asks for a new link` : html`A payment waits for its review`,
    amount,
    ...(payment.mode === 'test' && { test: html`Test payment. No money will move.` }),
    paragraphs: [
      isAsked
        ? html`The link of this payment has expired, and its customer still wants to pay. Create a payment with the same reference: its
          link is then sent to the customer, if it has the customer’s email address.`
        : html`Its customer sent their details. An administrator of this installation decides.`,
    ],
    quotes: description === null ? [] : [{ from: html`Description`, text: description }],
    facts: [
      ...(merchant_reference === null
        ? []
        : [['Reference', unlinked(merchant_reference)] as [string, string]]),
      ['Payment', id],
      ['Created', moment(created_at)],
    ],
    notes: [toMerchant(merchant_name)],
  });
}

export function endpointLetter(
  merchant: string,
  endpoint: Endpoint,
  since: number,
  { moment }: Told,
): LetterContent {
  return letter({
    subject: 'Your webhook endpoint fails',
    heading: html`Your webhook endpoint fails`,
    paragraphs: [
      html`Every delivery since ${moment(since)} has failed. Deliveries are tried for three days. After five days without a success the
        endpoint is disabled.`,
      html`GET /v1/webhook_endpoints/${endpoint.id}/deliveries tells what your server answered.`,
    ],
    facts: [
      ['Endpoint', unlinked(endpoint.url)],
      ['Mode', endpoint.mode],
    ],
    notes: [toMerchant(merchant)],
  });
}

export function keyLetter(
  merchant: string,
  key: { id: string; mode: string; name: string | null; created_at: number },
  { moment }: Told,
): LetterContent {
  return letter({
    subject: `A new ${key.mode} API key was made`,
    heading: html`A new API key was made`,
    paragraphs: [html`If this was not you, revoke the key at once and tell the operator of this service.`],
    facts: [
      ['Key', key.id],
      ...(key.name === null ? [] : [['Name', unlinked(key.name)] as [string, string]]),
      ['Mode', key.mode],
      ['Made', moment(key.created_at)],
    ],
    notes: [toMerchant(merchant)],
  });
}

const toAdministrator = (consoleUrl: string) =>
  html`You get this letter because you are an administrator. Choose your letters under Your account: ${consoleUrl}/account/letters`;

export function digestLetter(queue: QueueCount, { money, moment, consoleUrl }: Told): LetterContent {
  const waiting = counted(queue.count, 'payment');
  return letter({
    subject: `${waiting} to review`,
    heading: html`${waiting} to review`,
    paragraphs: queue.oldest === null ? [] : [html`The oldest waits since ${moment(queue.oldest)}.`],
    facts: queue.sums.map(({ currency, mode, count, amount_minor }): [string, string] => [
      mode === 'live' ? currency : `${currency}, test`,
      `${counted(count, 'payment')}, ${money(amount_minor, currency)}`,
    ]),
    button: { label: html`Open the queue`, url: `${consoleUrl}/queue`, hint: HINT },
    notes: [toAdministrator(consoleUrl)],
  });
}

const ALERTS: Record<Alert, readonly [heading: string, text: string]> = {
  history_broken: [
    'The history does not verify',
    'The last verification found an entry that is not as it was sealed. Run counterfoil audit verify, and follow docs/operating/runbook.md.',
  ],
  backup_old: [
    'The newest backup is old',
    'No backup was made in the time that backups are due. Run counterfoil doctor, which says where it looks and what it found.',
  ],
};

export function alertLetter(alert: Alert, { consoleUrl }: Told): LetterContent {
  const [heading, text] = ALERTS[alert];
  return letter({
    subject: heading,
    heading: html`${heading}`,
    paragraphs: [html`${text}`],
    button: { label: html`Open the health page`, url: `${consoleUrl}/health`, hint: HINT },
    notes: [toAdministrator(consoleUrl)],
  });
}

/** The letter by which an administrator or the operator sees that mail works. */
export const trialLetter = (): LetterContent =>
  letter({
    subject: 'Mail of Counterfoil works',
    heading: html`Mail works`,
    paragraphs: [html`This letter was sent to try the mail settings of this installation.`],
  });
