// The letters to merchants and administrators, in a language of the console.
import type { Tongue } from '../../administrators/pages/tongue.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase, type Say } from '../../lib/phrases.ts';
import { MODE_NAMES } from '../../merchants/pages/merchant-keys.ts';
import type { Payment } from '../../payments/payment.ts';
import type { QueueCount } from '../../review/queue-queries.ts';
import { LANGUAGES } from '../../web/markup/languages.ts';
import type { Endpoint } from '../../webhooks/endpoint.ts';
import type { Alert } from '../timed.ts';
import { type LetterContent, unlinked } from './markup.ts';

/** The name that letters of the installation itself are sent under. */
export const PRODUCT = 'Counterfoil';

/** The reader's language, with where their console is. */
export interface Told extends Tongue {
  /** Without a slash at its end. */
  consoleUrl: string;
}

const letter = (
  { say: { tag } }: Pick<Tongue, 'say'>,
  content: Pick<LetterContent, 'subject' | 'paragraphs'> & Partial<LetterContent>,
): LetterContent => ({
  language: LANGUAGES.find((one) => one.tag === tag)!,
  brand: PRODUCT,
  heading: html`${content.subject}`,
  notes: [],
  ...content,
});

const toMerchant = (say: Say, merchant: string): Html =>
  say.html`You get this email because your address is that of the merchant ${unlinked(merchant)}.`;

/** Something about a payment that its merchant ought to know. */
export function paymentLetter(
  kind: 'needs_attention' | 'link_requested',
  payment: Payment,
  told: Told,
): LetterContent {
  const { say, money, moment } = told;
  const { id, merchant_name, merchant_reference, amount_minor, currency, created_at, description } = payment;
  const amount = money(amount_minor, currency);
  const isAsked = kind === 'link_requested';
  const heading = isAsked ? say`A customer asks for a new link` : say`A payment waits for its review`;
  return letter(told, {
    subject: `${heading}: ${amount}${merchant_reference === null ? '' : ` (${merchant_reference})`}`,
    heading: html`${heading}`,
    amount,
    ...(payment.mode === 'test' && { test: say.html`Test payment. No money will move.` }),
    paragraphs: [
      isAsked
        ? say.html`The link of this payment has expired, and its customer still wants to pay. Create a payment with the same reference: its link is then sent to the customer, if it has the customer’s email address.`
        : say.html`Its customer sent their details. An administrator of this installation decides.`,
    ],
    quotes: description === null ? [] : [{ from: say.html`Description`, text: description }],
    facts: [
      ...(merchant_reference === null
        ? []
        : [[say`Reference`, unlinked(merchant_reference)] as [string, string]]),
      [say`Payment`, id],
      [say`Created`, moment(created_at)],
    ],
    notes: [toMerchant(say, merchant_name)],
  });
}

export function endpointLetter(
  merchant: string,
  endpoint: Endpoint,
  since: number,
  told: Told,
): LetterContent {
  const { say, moment } = told;
  return letter(told, {
    subject: say`Your webhook endpoint fails`,
    paragraphs: [
      say.html`Every delivery since ${moment(since)} has failed. Deliveries are tried for three days. After five days without a success the endpoint is disabled.`,
      say.html`${html`<bdi dir="ltr">GET /v1/webhook_endpoints/${endpoint.id}/deliveries</bdi>`} tells what your server answered.`,
    ],
    facts: [
      [say`Endpoint`, unlinked(endpoint.url)],
      [say`Mode`, say.of(MODE_NAMES[endpoint.mode])],
    ],
    notes: [toMerchant(say, merchant)],
  });
}

export function keyLetter(
  merchant: string,
  key: { id: string; mode: 'live' | 'test'; name: string | null; created_at: number },
  told: Told,
): LetterContent {
  const { say, moment } = told;
  return letter(told, {
    subject: key.mode === 'live' ? say`A new live API key was made` : say`A new test API key was made`,
    paragraphs: [
      say.html`If this was not you, revoke the key at once and tell the operator of this service.`,
    ],
    facts: [
      [say`Key`, key.id],
      ...(key.name === null ? [] : [[say`Name`, unlinked(key.name)] as [string, string]]),
      [say`Mode`, say.of(MODE_NAMES[key.mode])],
      [say`Created`, moment(key.created_at)],
    ],
    notes: [toMerchant(say, merchant)],
  });
}

/** The letter to an administrator, who chooses their letters in the console. */
function toAdministrator(
  { say, consoleUrl }: Told,
  { label, path }: { label: Html; path: string },
  content: LetterContent,
): LetterContent {
  const choices = `${consoleUrl}/account/letters`;
  return {
    ...content,
    button: {
      label,
      url: consoleUrl + path,
      hint: say.html`If the button does not work, open this address:`,
    },
    notes: [
      say.html`You get this email because you are an administrator. Choose your emails under Your account: ${choices}`,
    ],
  };
}

export function digestLetter(queue: QueueCount, told: Told): LetterContent {
  const { say, money, moment } = told;
  const content = letter(told, {
    subject: say.count(queue.count, '{n} payment to review', '{n} payments to review'),
    paragraphs: queue.oldest === null ? [] : [say.html`The oldest waits since ${moment(queue.oldest)}.`],
    facts: queue.sums.map(({ currency, mode, count, amount_minor }): [string, string] => [
      mode === 'live' ? currency : `${currency}, ${say`test`}`,
      `${say.count(count, '{n} payment', '{n} payments')}, ${money(amount_minor, currency)}`,
    ]),
  });
  return toAdministrator(told, { label: say.html`Open the queue`, path: '/queue' }, content);
}

const ALERTS: Record<Alert, readonly [heading: string, text: string]> = {
  history_broken: [
    phrase('The history does not verify'),
    phrase(
      'The last verification found an entry that is not as it was sealed. Run counterfoil audit verify, and follow docs/operating/runbook.md.',
    ),
  ],
  backup_old: [
    phrase('The newest backup is old'),
    phrase(
      'No backup was made in the time that backups are due. Run counterfoil doctor, which says where it looks and what it found.',
    ),
  ],
};

export function alertLetter(alert: Alert, told: Told): LetterContent {
  const { say } = told;
  const [heading, text] = ALERTS[alert];
  const content = letter(told, { subject: say.of(heading), paragraphs: [html`${say.of(text)}`] });
  return toAdministrator(told, { label: say.html`Open the health page`, path: '/health' }, content);
}

/** The letter by which an administrator or the operator sees that mail works. */
export const trialLetter = (told: Pick<Tongue, 'say'>): LetterContent =>
  letter(told, {
    subject: told.say`Mail of Counterfoil works`,
    paragraphs: [told.say.html`This email was sent to try the mail settings of this installation.`],
  });
