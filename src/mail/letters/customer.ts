// The letters to a payment's customer: what each says, in the same words as the payment's page, from what is known when it leaves.

import { transferLines } from '../../checkout/instructions.ts';
import { dueOf, moneyKnown, moneySentences } from '../../checkout/money.ts';
import { lastDay, nameOfMethod, shownStatus } from '../../checkout/parts.ts';
import { type IssuedReceipt, payersUrl, receiptRows } from '../../checkout/receipt.ts';
import { stateOf } from '../../checkout/state-page.ts';
import { VERIFY_PATH } from '../../checkout/verify-route.ts';
import type { KeyRing } from '../../journal/keys/key-ring.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import type { Profile } from '../../merchants/merchant.ts';
import type { Offer } from '../../payments/methods/offer.ts';
import type { Payment } from '../../payments/payment.ts';
import { checkoutUrl } from '../../payments/present.ts';
import { maskedOf } from '../../payments/submit.ts';
import type { Key, Words } from '../../web/markup/languages.ts';
import type { CustomerLetter } from '../letter.ts';
import { type LetterContent, unlinked } from './markup.ts';

interface CustomerSubject {
  payment: Payment;
  profile: Profile;
  words: Words;
  offer: Pick<Offer, 'transferFor'>;
  ring: KeyRing;
  /** Without a slash at its end. */
  checkoutBaseUrl: string;
  /** Of an approved payment. */
  receipt: IssuedReceipt | undefined;
}

/** Why a letter about another status does not leave. */
const COME_TO: Readonly<Record<Payment['status'], string>> = {
  pending: phrase('The payment waits for the customer'),
  requires_review: phrase('The payment is under review'),
  approved: phrase('The payment was approved'),
  rejected: phrase('The payment was rejected'),
  cancelled: phrase('The payment was cancelled, or its link has expired'),
};

/** The status that a letter is about, if it is about one alone. */
const ABOUT: Partial<Record<CustomerLetter, Payment['status']>> = {
  link: 'pending',
  new_link: 'pending',
  receipt: 'approved',
  not_accepted: 'rejected',
  cancelled: 'cancelled',
};

/** What makes a letter true no more: why it does not leave, as `Say.of` says it. */
export function overtaken(kind: CustomerLetter, payment: Payment): string | undefined {
  const { status, announced_at, received_minor, payment_details } = payment;
  if (kind in ABOUT) return status === ABOUT[kind] ? undefined : COME_TO[status];
  if (kind === 'reminder' && (status !== 'pending' || announced_at !== null || received_minor !== null))
    return phrase('The customer said that they paid, or the payment ended');
  if (kind === 'details_received' && (status !== 'requires_review' || payment_details === null))
    return phrase('What the customer sent was decided or taken back');
  if (kind === 'money_found' && (status === 'approved' || status === 'rejected' || received_minor === null))
    return phrase('The payment was decided, or the money went back');
  return undefined;
}

/** The letter of a kind that `overtaken` has nothing against. */
export function customerLetter(kind: CustomerLetter, subject: CustomerSubject): LetterContent {
  const { profile, words, ring, checkoutBaseUrl } = subject;
  const merchant = unlinked(subject.payment.merchant_name);
  // Everything below shows the name in a form of which no program makes a link.
  const payment = { ...subject.payment, merchant_name: merchant };
  const { id, merchant_reference, description, mode, amount_minor } = payment;
  const amount = words.money(amount_minor, payment.currency);
  // A letter about money that arrived names that, which may be a part.
  const named =
    kind === 'money_found'
      ? words.money(moneyKnown(payment).received || amount_minor, payment.currency)
      : amount;
  const said = { ...subject, payment, amount };
  const parts = kind in ASKING ? asking(kind as keyof typeof ASKING, said) : telling(kind, said);
  const name = subject.payment.merchant_name;
  const support = profile.support;
  return {
    language: words,
    brand: name,
    logo: profile.particulars?.logo,
    amount: named,
    test: mode === 'test' ? words.html('test') : undefined,
    ...parts,
    subject:
      words.text(`mail.${kind}.subject` as Key, {
        merchant: name,
        amount: named,
        day: plain(lastDay(words, payment)),
      }) + (merchant_reference === null ? '' : ` (${merchant_reference})`),
    quotes: [
      ...(parts.quotes ?? []),
      ...(description === null ? [] : [{ from: words.html('mail.quoted', { merchant }), text: description }]),
    ],
    facts: [
      ...(merchant_reference === null
        ? []
        : [[words.html('fact.reference'), unlinked(merchant_reference)] as [Html, string]]),
      ...(parts.facts ?? []),
      [words.html('fact.payment'), id],
    ],
    button: {
      label: words.html(
        kind === 'receipt' ? 'mail.receipt.button' : kind in ASKING ? 'mail.link.button' : 'mail.button',
      ),
      url: kind === 'receipt' ? payersUrl(ring, checkoutBaseUrl, id) : checkoutUrl(checkoutBaseUrl, id),
      hint: words.html('mail.address'),
    },
    notes: [
      support === null
        ? words.html('help.text', { merchant })
        : words.html('help.contact', { merchant, contact: support }),
      words.html('mail.why', { merchant }),
    ],
  };
}

type Said = CustomerSubject & { amount: string };
type Parts = Pick<LetterContent, 'heading' | 'paragraphs' | 'quotes' | 'facts'>;

const plain = (day: Html): string => day.toString().replace(/<[^>]*>/g, '');

/** Letters that ask for money, with their first sentences. */
const ASKING = {
  link: 'mail.link.lead',
  new_link: 'mail.new_link.lead',
  reminder: 'mail.reminder.lead',
} as const satisfies Partial<Record<CustomerLetter, Key>>;

function asking(kind: keyof typeof ASKING, { payment, words, amount }: Said): Parts {
  const merchant = payment.merchant_name;
  const day = lastDay(words, payment);
  return {
    heading: words.html('pending.heading', { merchant }),
    paragraphs: [
      words.html(ASKING[kind], { merchant, amount, day }),
      words.html('pending.next', { merchant }),
    ],
    facts: [[words.html('fact.pay_by'), day]],
  };
}

/** Letters that tell what became of a payment. */
function telling(kind: CustomerLetter, said: Said): Parts {
  const { payment, words, amount, offer, receipt, profile } = said;
  const merchant = payment.merchant_name;
  const money = moneyKnown(payment);
  const shown = shownStatus(payment);
  const heading: Key =
    kind === 'money_found' || shown === 'pending' ? 'mail.money_found.heading' : stateOf(shown, money)[1];
  const due = dueOf(payment, offer);
  const instructions = due?.instructions;
  const rest = due && { ...said, payment: due.payment };
  const own = payment.status_reason === 'cancelled_by_customer';
  const next: Record<string, Html> = {
    details_received: words.html('mail.follow'),
    money_found: words.html('mail.follow'),
    receipt: words.html('mail.receipt.next'),
    not_accepted: words.html('rejected.next', { merchant }),
    cancelled: own
      ? words.html('mail.cancelled.own', { merchant })
      : words.html('cancelled.by_merchant', { merchant }),
  };
  const message = kind === 'not_accepted' ? payment.review_message : null;
  return {
    heading: words.html(heading, { merchant, amount }),
    paragraphs: [
      moneySentences(said, money),
      next[kind]!,
      ...(kind === 'receipt' && receipt ? [howToCheck(said, receipt)] : []),
    ],
    quotes: message === null ? [] : [{ from: words.html('rejected.message', { merchant }), text: message }],
    facts: [
      ...(kind === 'receipt' && receipt
        ? receiptRows({ payment, words, profile }, receipt, true)
        : methodOf(said)),
      ...(rest && instructions?.kind === 'transfer'
        ? transferLines(rest, instructions).map(({ term, value, beside }): [string, string] => [
            term,
            beside ? `${value} ${beside}` : value!,
          ])
        : []),
    ],
  };
}

/** How anyone checks the receipt, as its page says it. */
function howToCheck({ words, checkoutBaseUrl }: Said, { number }: IssuedReceipt): Html {
  const url = checkoutBaseUrl + VERIFY_PATH;
  const address = html`<a class="link" href="${url}?number=${number}" style="color:#2a47b0"><bdi dir="ltr">${url}</bdi></a>`;
  return words.html('receipt.check', { address });
}

function methodOf({ payment, words }: Said): [Html, Html][] {
  const sent = maskedOf(payment);
  return sent ? [[words.html('fact.method'), nameOfMethod(words, sent)]] : [];
}
