// Composes a letter when it is to leave: reads what it is about as that is now, and says why it does not leave if it is true no more.

import { ADMINISTRATORS } from '../../administrators/administrator.ts';
import { phrasebook, tongueOf } from '../../administrators/pages/tongue.ts';
import { findAdministrator } from '../../administrators/queries.ts';
import { receiptOf } from '../../checkout/receipt.ts';
import type { KeyRing } from '../../journal/keys/key-ring.ts';
import { readRecorded } from '../../journal/record-row.ts';
import { phrase } from '../../lib/phrases.ts';
import { isEmailAddress } from '../../lib/text.ts';
import type { Clock } from '../../lib/time.ts';
import type { Directory } from '../../merchants/directory.ts';
import { pictureOf } from '../../merchants/particulars.ts';
import { findKey } from '../../merchants/queries.ts';
import type { Offer } from '../../payments/methods/offer.ts';
import { asOf, customerEmail, emailOf, type Payment } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { sentOf } from '../../payments/submit.ts';
import { isPaymentAsRecorded } from '../../payments/transition.ts';
import type { QueueCount } from '../../review/queue-queries.ts';
import type { Database } from '../../store/database.ts';
import { Languages } from '../../web/markup/languages.ts';
import { findEndpoint, findQueue } from '../../webhooks/queries.ts';
import {
  choicesOf,
  type LetterRules,
  mayTell,
  UNCONFIRMED,
  unsubscribeUrl,
  wants,
  whyNot,
} from '../choices.ts';
import {
  type CustomerLetter,
  isCustomerLetter,
  isMerchantLetter,
  type Letter,
  type MerchantLetter,
} from '../letter.ts';
import { type Message, UNREACHABLE } from '../message.ts';
import type { Composed } from '../worker.ts';
import { customerLetter, overtaken } from './customer.ts';
import { type LetterContent, letterHtml, letterText } from './markup.ts';
import {
  alertLetter,
  digestLetter,
  endpointLetter,
  keyLetter,
  PRODUCT,
  paymentLetter,
  type Told,
} from './staff.ts';

interface ComposeParts extends LetterRules {
  database: Database;
  clock: Clock;
  directory: Directory;
  offer: Offer;
  ring: KeyRing;
  timeZone: string;
  /** The address that letters are sent from. */
  from: string;
  checkoutBaseUrl: string;
  consoleBaseUrl: string;
  queue(): Promise<QueueCount>;
}

type Addressed = {
  to: string;
  name: string;
  replyTo?: string | null;
  content: LetterContent;
  unsubscribe?: string;
};
type Addressing = Addressed | { withdrawn: string };

/** Returns the function that composes letters. It throws `DatabaseError` and `HistoryBroken`. */
export const composer =
  (parts: ComposeParts) =>
  async (letter: Letter): Promise<Composed> => {
    const { kind } = letter;
    const addressed = isCustomerLetter(kind)
      ? await toCustomer(parts, letter, kind)
      : isMerchantLetter(kind)
        ? await toMerchant(parts, letter, kind)
        : await toAdministrator(parts, letter);
    if ('withdrawn' in addressed) return addressed;
    return parts.takes(addressed.to) ? messageOf(letter, parts, addressed) : { withdrawn: UNREACHABLE };
  };

export function messageOf(
  { id, created_at }: Pick<Letter, 'id' | 'created_at'>,
  { from }: Pick<ComposeParts, 'from'>,
  { to, name, replyTo = null, content, unsubscribe }: Addressed,
): Message {
  return {
    ...{ id, to, replyTo, at: created_at },
    from: { name, address: from },
    subject: content.subject,
    html: letterHtml(content),
    text: letterText(content),
    logo: content.logo === undefined ? null : pictureOf(content.logo),
    unsubscribeUrl: unsubscribe ?? null,
  };
}

/** The payment that a letter is about, if it is as the history says. */
async function paymentOf({ database, clock }: ComposeParts, { about }: Letter): Promise<Payment | undefined> {
  const payment = await findPayment(database, about);
  return payment && (await isPaymentAsRecorded(database, payment)) ? asOf(payment, clock.now()) : undefined;
}

const UNTOLD = { withdrawn: phrase('The payment was changed outside the service') };

async function toCustomer(parts: ComposeParts, letter: Letter, kind: CustomerLetter): Promise<Addressing> {
  const { database, directory, offer, ring, timeZone, checkoutBaseUrl } = parts;
  const payment = await paymentOf(parts, letter);
  if (!payment) return UNTOLD;
  const { merchant_id, merchant_name, locale } = payment;
  const profile = directory.profile(merchant_id);
  const why = overtaken(kind, payment);
  if (why !== undefined) return { withdrawn: why };
  const to = kind === 'link' || kind === 'new_link' ? customerEmail(payment) : emailOf(payment);
  if (to === undefined) return { withdrawn: phrase('The payment has no email address') };
  const untold = whyNot(parts, kind, payment, to);
  if (untold !== undefined) return { withdrawn: untold };
  const words = Languages.in(timeZone).choose(locale, languageOf(payment));
  const receipt = kind === 'receipt' ? await receiptOf(database, payment) : undefined;
  const content = customerLetter(kind, { payment, profile, words, offer, ring, checkoutBaseUrl, receipt });
  const replyTo = profile.support !== null && isEmailAddress(profile.support) ? profile.support : null;
  return { to, name: merchant_name, replyTo, content };
}

const unconfirmed = { withdrawn: UNCONFIRMED };

/** The language in which the customer filled in the form. */
const languageOf = (payment: Payment) => sentOf(payment)?.language;

/** What letters to people of the console are written with, in the language that they read, else in English. */
const toldIn = ({ timeZone, consoleBaseUrl }: ComposeParts, language: string | undefined): Told => ({
  ...tongueOf(phrasebook.choose(language), timeZone),
  consoleUrl: `${consoleBaseUrl}/console`,
});

async function toMerchant(parts: ComposeParts, letter: Letter, kind: MerchantLetter): Promise<Addressing> {
  const { database, directory } = parts;
  const profile = directory.profile(letter.merchant_id!);
  const merchant = directory.merchant(letter.merchant_id!);
  if (!merchant || !profile.email) return { withdrawn: phrase('The merchant has no email address') };
  if (!wants(profile, kind)) return { withdrawn: phrase('The merchant has such letters switched off') };
  const to = { to: profile.email, name: PRODUCT };
  const told = toldIn(parts, profile.particulars?.language);
  if (kind === 'key_made') {
    const key = await findKey(database, letter.about);
    if (!key) return { withdrawn: phrase('The key does not exist any more') };
    if (!mayTell(parts, letter.merchant_id!, key.mode, profile.email)) return unconfirmed;
    return { ...to, content: keyLetter(merchant.name, key, told) };
  }
  if (kind === 'webhook_failing') {
    const endpoint = await findEndpoint(database, letter.about);
    const since = (await findQueue(database, letter.about))?.failing_since ?? null;
    if (!endpoint || since === null) return { withdrawn: phrase('The endpoint answers again') };
    if (!mayTell(parts, letter.merchant_id!, endpoint.mode, profile.email)) return unconfirmed;
    return { ...to, content: endpointLetter(merchant.name, endpoint, since, told) };
  }
  const payment = await paymentOf(parts, letter);
  if (!payment) return UNTOLD;
  if (kind === 'needs_attention' && payment.status !== 'requires_review')
    return { withdrawn: phrase('The payment was decided') };
  if (!mayTell(parts, letter.merchant_id!, payment.mode, profile.email)) return unconfirmed;
  return { ...to, content: paymentLetter(kind, payment, told) };
}

async function toAdministrator(parts: ComposeParts, { kind, recipient, about }: Letter): Promise<Addressing> {
  const { database, ring, checkoutBaseUrl, queue } = parts;
  const reader = await readRecorded(database, ADMINISTRATORS, () => findAdministrator(database, recipient));
  if (!reader || reader.disabled_at !== null)
    return { withdrawn: phrase('The administrator has no access any more') };
  const choices = choicesOf(reader);
  const to = { to: reader.email, name: PRODUCT };
  const told = toldIn(parts, choices.language);
  if (kind !== 'queue_digest')
    return choices.alerts
      ? { ...to, content: alertLetter(about as 'backup_old', told) }
      : { withdrawn: phrase('The administrator does not want it') };
  const waiting = await queue();
  if (choices.digest === 'never' || waiting.count < choices.least)
    return { withdrawn: phrase('Fewer payments wait than the administrator wants to know of') };
  const unsubscribe = unsubscribeUrl(ring, checkoutBaseUrl, reader.id);
  return { ...to, content: digestLetter(waiting, told), unsubscribe };
}
