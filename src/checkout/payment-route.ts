// The one address of a payment: its status decides which page it shows and what its forms may do.

import type { Work } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { qrPicture } from '../lib/qr-code.ts';
import { formatTimestamp, MINUTE_MS } from '../lib/time.ts';
import { pictureOf } from '../merchants/particulars.ts';
import { decisionFor } from '../payments/methods/fields.ts';
import type { Instructions, Method } from '../payments/methods/offer.ts';
import type { Payment } from '../payments/payment.ts';
import { checkoutUrl, PAYMENT_PAGE } from '../payments/present.ts';
import {
  cancelByCustomer,
  keepAnnouncement,
  requestLink,
  submitPayment,
  withdraw,
} from '../payments/submit.ts';
import { isPaymentAsRecorded } from '../payments/transition.ts';
import { TRIALS, type TryOut, tryOut } from '../review/try-out.ts';
import { isSameOrigin } from '../web/pages/form.ts';
import { busyPage, refusedPage } from '../web/pages/problem.ts';
import { formAt, pageAt, type WholeAnswer } from '../web/pages/route.ts';
import type { SiteAnswer } from '../web/pages/site.ts';
import { fromNetwork, Throttle } from '../web/rate-limit.ts';
import {
  actionOf,
  knownContacts,
  readForm,
  readShown,
  saysSent,
  submissionFrom,
  transferIn,
  typedAddress,
  typedBefore,
  unsavedPage,
} from './form.ts';
import { codePicture } from './instructions.ts';
import { type Due, dueOf } from './money.ts';
import {
  mayBePaid,
  mayTryOut,
  missingPayment,
  type PaymentParts,
  type PaymentSubject,
  seePayment,
  shownPayment,
  speakFor,
  subjectOf,
  suspended,
  unoffered,
  unshown,
} from './parts.ts';
import { cancelPage, pendingPage } from './pending-page.ts';
import { receiptOf } from './receipt.ts';
import { statePage } from './state-page.ts';
import type { CheckoutRoute, CheckoutVisit } from './visit.ts';

export function paymentRoutes(parts: PaymentParts): CheckoutRoute[] {
  const path = `/${PAYMENT_PAGE}`;
  const forms = new PaymentForms(parts);
  return [
    pageAt(path, 'anyone', (visit) => show(parts, visit)),
    {
      ...formAt(path, 'anyone', (visit: CheckoutVisit) => forms.take(visit)),
      takesForeign: true, // forged forms are counted
      // Shows a customer whose message was not kept not to pay again.
      failed: (visit, more) => (saysSent(visit.form) ? unsavedPage(visit, visit.form, more) : undefined),
    },
  ];
}

async function show(parts: PaymentParts, visit: CheckoutVisit): Promise<SiteAnswer> {
  const { offer, database, ring } = parts;
  const { method: wanted, view } = visit.asked;
  const payment = await shownPayment(parts, visit);
  if (!payment) return missingPayment(visit);
  speakFor(payment, visit);
  const subject = subjectOf(parts, payment, visit);
  if (view === 'logo') return logoOf(subject) ?? missingPayment(visit);
  if (payment.status !== 'pending') {
    if (!(await isPaymentAsRecorded(database, payment))) return unshown(visit);
    const due = dueNow(parts, payment);
    if (view !== 'code' || payment.status !== 'requires_review') {
      const receipt = await receiptOf(database, payment);
      const isPayers = ring.isMac('payer', payment.id, visit.asked.payer ?? '');
      return statePage(visit, subject, { due, receipt, isPayers });
    }
    return (due && codeOf(due.payment, due.instructions ?? null)) ?? missingPayment(visit);
  }
  if (!(await mayBePaid(parts, payment))) return suspended(visit, subject);
  if (view === 'cancel') return cancelPage(visit, subject);
  const methods = offer.methodsFor(payment);
  const method = wanted === undefined ? methods[0] : methods.find(({ id }) => id === wanted);
  if (!method) return unoffered(visit);
  if (view === 'code') return codeOf(payment, method.instructions(payment)) ?? missingPayment(visit);
  if (view === 'page')
    return { text: qrPicture(checkoutUrl(visit.site.baseUrl, payment.id)), headers: PICTURE };
  if (view === 'calendar') return calendarOf(visit, subject);
  const again = typedBefore(visit, ring, payment, method);
  const known = again && knownContacts(payment, method, visit.asked.edit);
  const typed = known && readForm(again, method, known, visit.words, payment.merchant_name, subject.now);
  if (!typed || typed.faults.length === 0) return pendingPage(visit, { ...subject, methods, method });
  return { ...pendingPage(visit, { ...subject, methods, method, typed }), status: 422 };
}

/** A suspended merchant asks for no rest; what the customer was told stays as it was. */
function dueNow({ offer, directory }: PaymentParts, payment: Payment): Due | undefined {
  const due = dueOf(payment, offer);
  return due?.isRest && directory.isSuspended(payment.merchant_id) ? undefined : due;
}

/** The code of a transfer as a picture, opened in the browser: from there a phone saves it among its photos. */
function codeOf(payment: Payment, instructions: Instructions | null): WholeAnswer | undefined {
  const text = codePicture(payment, instructions);
  return text && { text, headers: { ...PICTURE, 'content-disposition': 'inline; filename="transfer.png"' } };
}

function logoOf({ profile }: PaymentSubject): WholeAnswer | undefined {
  const { logo } = profile.particulars ?? {};
  if (logo === undefined) return undefined;
  const { type, bytes } = pictureOf(logo);
  return {
    text: bytes,
    headers: { 'content-type': type, 'cache-control': `private, max-age=${LOGO_KEPT_S}` },
  };
}

/** A browser asks for a logo again after an hour. */
const LOGO_KEPT_S = 3600;
const PICTURE = { 'content-type': 'image/png' };

function calendarOf({ site }: CheckoutVisit, subject: PaymentSubject): WholeAnswer {
  const text = calendarEntry(subject, checkoutUrl(site.baseUrl, subject.payment.id));
  const headers = {
    'content-type': 'text/calendar; charset=utf-8',
    'content-disposition': 'attachment; filename="payment.ics"',
  };
  return { text, headers };
}

/** Octets of a line before it is folded (RFC 5545, 3.1). */
const LINE_OCTETS = 74;

/** The file of the entry: the whole day, with a reminder at nine in the morning. `page`: the address of the payment's page. */
function calendarEntry({ payment, words, amount, now }: PaymentSubject, page: string): string {
  const title = words.text('transfer.mail.subject', { merchant: payment.merchant_name, amount });
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Counterfoil//Checkout//EN',
    'BEGIN:VEVENT',
    `UID:${payment.id}`,
    `DTSTAMP:${formatTimestamp(now).replace('+00:00', 'Z').replaceAll(/[-:]/g, '')}`,
    `DTSTART;VALUE=DATE:${payment.pay_by.replaceAll('-', '')}`,
    `SUMMARY:${escaped(title)}`,
    `DESCRIPTION:${escaped(page)}`,
    `URL:${page}`,
    'TRANSP:TRANSPARENT',
    'BEGIN:VALARM',
    'ACTION:DISPLAY',
    `DESCRIPTION:${escaped(title)}`,
    'TRIGGER:PT9H',
    'END:VALARM',
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${foldedLine(line)}\r\n`).join('');
}

const escaped = (text: string) => text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');

/** `line` in pieces of at most 75 octets, each but the first with a space in front, none inside a character. */
function foldedLine(line: string): string {
  const pieces = [''];
  for (const character of line) {
    const last = pieces.at(-1)!;
    if (Buffer.byteLength(last + character) > LINE_OCTETS) pieces.push(character);
    else pieces[pieces.length - 1] = last + character;
  }
  return pieces.join('\r\n ');
}

/** Forms are limited within this. */
const WINDOW_MS = 10 * MINUTE_MS;

interface FormSent {
  ip: string;
  id: string;
}

class PaymentForms {
  readonly #parts: PaymentParts;
  readonly #origin: string;
  readonly #forms: Throttle<FormSent>;
  /** Counted apart, so that forged forms use up nothing that a customer needs. */
  readonly #forged: Throttle;

  constructor(parts: PaymentParts) {
    const { clock, limits, checkoutBaseUrl } = parts;
    this.#parts = parts;
    this.#origin = new URL(checkoutBaseUrl).origin;
    const ofAddress = fromNetwork(limits.perAddress);
    this.#forged = new Throttle(clock, WINDOW_MS, ofAddress);
    this.#forms = new Throttle(clock, WINDOW_MS, [
      ...ofAddress.map(({ nameOf, maximum }) => ({ nameOf: ({ ip }: FormSent) => nameOf(ip), maximum })),
      { nameOf: ({ id }: FormSent) => id, maximum: limits.perPayment },
    ]);
  }

  async take(visit: CheckoutVisit): Promise<SiteAnswer> {
    const { ring } = this.#parts;
    const { request, asked, form } = visit;
    const payment = await shownPayment(this.#parts, visit);
    if (!payment) return missingPayment(visit);
    speakFor(payment, visit);
    const { id } = payment;
    const isOurs = isSameOrigin(request.headers, this.#origin, true);
    const action = isOurs ? actionOf(ring, payment, form, asked.method) : undefined;
    const { ip } = request;
    const waitMs = action ? this.#forms.count({ ip, id }) : this.#forged.count(ip);
    const transfer = action === 'submit' ? this.#transferIn(form, payment, asked.method) : undefined;
    if (waitMs > 0 && transfer && payment.announced_at === null)
      return this.#submit(visit, payment, form, transfer);
    if (waitMs > 0) return busyPage(visit, waitMs, 'checkout_forms');
    if (!action) return this.#refuse(visit, payment, form, isOurs);
    if (action === 'submit') return this.#submit(visit, payment, form, transfer);
    if (action === 'try') return this.#try(visit, payment, form);
    const act = ACTS[action];
    return this.#change(visit, id, (transaction) => act(transaction, id, request.id));
  }

  /** A form without a right token changes nothing, but what it says of a transfer is kept if it comes from a page of ours. */
  async #refuse(
    visit: CheckoutVisit,
    payment: Payment,
    form: URLSearchParams,
    isOurs: boolean,
  ): Promise<SiteAnswer> {
    if (!saysSent(form)) return refusedPage(visit);
    const transfer = isOurs
      ? this.#transferIn(new URLSearchParams(), payment, visit.asked.method)
      : undefined;
    if (!transfer) return { ...unsavedPage(visit), status: 403 };
    const told = [...form].filter(([name]) => name !== 'shown');
    const seen = await this.#announce(visit, payment, new URLSearchParams(told), transfer);
    const now = (await shownPayment(this.#parts, visit)) ?? payment;
    if (now.status !== 'pending' || !(await mayBePaid(this.#parts, now))) return seen;
    const methods = this.#parts.offer.methodsFor(now);
    const pending = { ...subjectOf(this.#parts, now, visit), methods, method: transfer };
    return { ...pendingPage(visit, pending), status: 403 };
  }

  #transferIn(form: URLSearchParams, payment: Payment, id: string | undefined): Method | undefined {
    return transferIn(form, id, this.#parts.offer.methodsFor(payment));
  }

  /**
   * Keeps that a transfer was sent: it submits the payment where that is possible, and is kept beside it where not. Of the fields those
   * count that are in order.
   */
  async #announce(
    visit: CheckoutVisit,
    payment: Payment,
    form: URLSearchParams,
    transfer: Method,
  ): Promise<SiteAnswer> {
    const { clock, journal } = this.#parts;
    const { words, asked, request } = visit;
    const { id, merchant_name } = payment;
    const known = knownContacts(payment, transfer, asked.edit);
    const { kept } = readForm(form, transfer, known, words, merchant_name, clock.now());
    const submission = submissionFrom(transfer, kept, readShown(form) ?? null, words.tag);
    await journal.commit((transaction) => keepAnnouncement(transaction, id, request.id, submission), id);
    return seePayment(visit);
  }

  async #submit(
    visit: CheckoutVisit,
    payment: Payment,
    form: URLSearchParams,
    transfer: Method | undefined,
  ): Promise<SiteAnswer> {
    const { clock, offer, ring } = this.#parts;
    const { words, asked, request } = visit;
    const isPayable = payment.status === 'pending' && (await mayBePaid(this.#parts, payment));
    if (!isPayable && transfer) return this.#announce(visit, payment, form, transfer);
    if (payment.status !== 'pending') return seePayment(visit); // it shows what became of the payment
    if (!isPayable) return suspended(visit, subjectOf(this.#parts, payment, visit));
    const methods = offer.methodsFor(payment);
    const method = transfer ?? methods.find(({ id }) => id === asked.method);
    if (!method) return unoffered(visit);
    const known = knownContacts(payment, method, asked.edit);
    const typed = readForm(form, method, known, words, payment.merchant_name, clock.now());
    if (typed.faults.length > 0) {
      if (transfer && !methods.includes(transfer)) return this.#announce(visit, payment, form, transfer);
      const isTold = transfer && payment.announced_at === null;
      if (isTold) await this.#announce(visit, payment, form, transfer);
      const now = (isTold && (await shownPayment(this.#parts, visit))) || payment;
      const faults = Object.fromEntries(typed.faults.map(({ field }) => [field, true]));
      const to = typedAddress(visit, ring, payment, method, typed);
      if (to) return { to, faults };
      const pending = { ...subjectOf(this.#parts, now, visit), methods, method, typed };
      return { ...pendingPage(visit, pending), faults };
    }
    const submission = submissionFrom(method, typed.kept, readShown(form) ?? null, words.tag);
    const { id } = payment;
    const decision = decisionFor(typed.kept.get('card-number'));
    const submitting = this.#change(visit, id, async (transaction) => {
      await submitPayment(transaction, id, request.id, submission);
      if (decision) await tryOut(transaction, decision, trying(payment, request));
    });
    if (transfer) {
      // It may have expired or been cancelled since it was read: the announcement is kept then.
      await submitting;
      const now = await shownPayment(this.#parts, visit);
      if (now?.announced_at === null) return this.#announce(visit, now, form, transfer);
    }
    return submitting;
  }

  /** Does what a button of `trialButtons` says. A payment that is decided from `pending` is submitted first. */
  async #try(visit: CheckoutVisit, payment: Payment, form: URLSearchParams): Promise<SiteAnswer> {
    const { id, mode, status } = payment;
    const trial = TRIALS.find((one) => one === form.get('trial'));
    if (!trial || mode !== 'test' || !mayTryOut(this.#parts, payment)) return refusedPage(visit);
    if (!(await mayBePaid(this.#parts, payment)))
      return suspended(visit, subjectOf(this.#parts, payment, visit));
    const isDecision = trial === 'approve' || trial === 'reject';
    const asked = trying(payment, visit.request);
    return this.#change(visit, id, async (transaction) => {
      if (isDecision && status === 'pending') await tryOut(transaction, 'submit', asked);
      await tryOut(transaction, trial, asked);
    });
  }

  /** Does `work` and leads to the payment's page, also if another change came first, and if it was changed outside the service. */
  async #change(visit: CheckoutVisit, id: string, work: Work<unknown>): Promise<SiteAnswer> {
    try {
      await this.#parts.journal.commit(work, id);
    } catch (error) {
      if (!(error instanceof OperationalError && ['invalid_status', 'conflict'].includes(error.code)))
        throw error;
    }
    return seePayment(visit);
  }
}

const ACTS = { cancel: cancelByCustomer, ask: requestLink, withdraw };

const trying = ({ id, merchant_id }: Payment, request: { id: string }): TryOut => ({
  id,
  merchant_id,
  requestId: request.id,
});
