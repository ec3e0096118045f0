// The one address of a payment: its status decides which page it shows and what its forms may do.

import type { Journal } from '../journal/journal.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import type { Work } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { type Clock, MINUTE_MS } from '../lib/time.ts';
import type { Directory } from '../merchants/directory.ts';
import { decisionFor } from '../payments/methods/card-fields.ts';
import type { Instructions } from '../payments/methods/method.ts';
import type { Offer } from '../payments/methods/offer.ts';
import { asOf, type Payment } from '../payments/payment.ts';
import { PAYMENT_PAGE } from '../payments/present.ts';
import { findPayment } from '../payments/queries.ts';
import { isPaymentAsRecorded } from '../payments/record.ts';
import { cancelByCustomer, requestLink, submitPayment } from '../payments/submit.ts';
import { TRIALS, type TryOut, tryOut } from '../review/try-out.ts';
import type { Database } from '../store/database.ts';
import { isSameOrigin } from '../web/pages/form.ts';
import { busyPage, refusedPage } from '../web/pages/problem.ts';
import { type PageAnswer, type PageRoute, type SentPage, tooManyForms } from '../web/pages/surface.ts';
import { fromNetwork, Throttle } from '../web/throttle.ts';
import { type Due, dueOf } from './due.ts';
import { knownContacts, readForm, submissionFrom } from './form.ts';
import { actionOf, shownInstructions } from './form-guard.ts';
import { codePicture } from './instructions.ts';
import { isLongAmount, type PaymentSubject } from './parts.ts';
import { cancelPage, pendingPage } from './pending-page.ts';
import { missingPage, suspendedPage, unofferedPage } from './problem-page.ts';
import { statePage } from './state-page.ts';
import type { CheckoutVisit, Name } from './visit.ts';

/** Forms are limited within this. */
const WINDOW_MS = 10 * MINUTE_MS;

export interface PaymentParts {
  database: Database;
  journal: Journal;
  clock: Clock;
  ring: KeyRing;
  directory: Directory;
  offer: Offer;
  /** Without a slash at its end. */
  checkoutBaseUrl: string;
  /** Whether the pages of all test payments have the buttons to try out every state, and not only those of some merchants. */
  triesOut: boolean;
  /** How many forms are taken within 10 minutes, of one payment and from one network address. */
  limits: { perPayment: number; perAddress: number };
}

/** From where a form came, and for which payment. */
interface FormSent {
  ip: string;
  id: string;
}

export class PaymentRoute implements PageRoute<Name> {
  readonly path = `/${PAYMENT_PAGE}`;
  /** Forged forms are counted. */
  readonly takesForeign = true;
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

  async show(opened: CheckoutVisit): Promise<PageAnswer> {
    const { offer } = this.#parts;
    const { method: wanted, view } = opened.asked;
    const payment = await this.#find(opened);
    if (!payment) return missing(opened);
    const visit = inLanguageOf(payment, opened);
    const subject = this.#subjectOf(payment, visit);
    if (payment.status !== 'pending') {
      const due = await this.#due(payment);
      if (view !== 'code' || payment.status !== 'requires_review') return statePage(visit, subject, due);
      return (due && codeOf(due.payment, due.instructions ?? null)) ?? missing(visit);
    }
    if (!(await this.#mayBePaid(payment))) return suspended(visit, subject);
    if (view === 'cancel') return { text: cancelPage(visit, subject) };
    const methods = offer.methodsFor(payment);
    const method = wanted === undefined ? methods[0] : methods.find(({ id }) => id === wanted);
    if (!method) return unoffered(visit);
    if (view === 'code') return codeOf(payment, method.instructions(payment)) ?? missing(visit);
    return { text: pendingPage(visit, { ...subject, methods, method }) };
  }

  async take(opened: CheckoutVisit, form: URLSearchParams): Promise<PageAnswer> {
    const { ring } = this.#parts;
    const { request, asked } = opened;
    const payment = await this.#find(opened);
    if (!payment) return missing(opened);
    const visit = inLanguageOf(payment, opened);
    const { id } = payment;
    const isOurs = isSameOrigin(request.headers, this.#origin, true);
    const action = isOurs ? actionOf(ring, payment, form, asked.method) : undefined;
    const { ip } = request;
    const waitMs = action ? this.#forms.count({ ip, id }) : this.#forged.count(ip);
    if (waitMs > 0) return tooManyForms(busyPage(visit, waitMs), waitMs, 'checkout_forms');
    if (!action) return { status: 403, text: refusedPage(visit) };
    if (action === 'submit') return this.#submit(visit, payment, form);
    if (action === 'try') return this.#try(visit, payment, form);
    const act = action === 'cancel' ? cancelByCustomer : requestLink;
    return this.#change(visit, id, (transaction) => act(transaction, id, request.id));
  }

  async #submit(visit: CheckoutVisit, payment: Payment, form: URLSearchParams): Promise<PageAnswer> {
    const { clock, offer } = this.#parts;
    const { words, asked, request } = visit;
    if (payment.status !== 'pending') return seePayment(visit); // it shows what became of the payment
    if (!(await this.#mayBePaid(payment))) return suspended(visit, this.#subjectOf(payment, visit));
    const methods = offer.methodsFor(payment);
    const method = methods.find(({ id }) => id === asked.method);
    if (!method) return unoffered(visit);
    const known = knownContacts(payment, method, asked.edit);
    const typed = readForm(form, method, known, words, payment.merchant_name, clock.now());
    if (typed.faults.length > 0) {
      const faults = Object.fromEntries(typed.faults.map(({ field }) => [field, true]));
      const pending = { ...this.#subjectOf(payment, visit), methods, method, typed };
      return { status: 422, text: pendingPage(visit, pending), faults };
    }
    const submission = submissionFrom(method, typed.kept, shownInstructions(form), words.tag);
    const { id } = payment;
    const decision = decisionFor(typed.kept.get('card-number'));
    return this.#change(visit, id, async (transaction) => {
      await submitPayment(transaction, id, request.id, submission);
      if (decision) await tryOut(transaction, decision, trying(payment, request));
    });
  }

  /** Does what a button of `trialButtons` says. A payment that is decided from `pending` is submitted first. */
  async #try(visit: CheckoutVisit, payment: Payment, form: URLSearchParams): Promise<PageAnswer> {
    const { id, mode, status } = payment;
    const trial = TRIALS.find((one) => one === form.get('trial'));
    if (!trial || mode !== 'test' || !this.#triesOut(payment))
      return { status: 403, text: refusedPage(visit) };
    if (!(await this.#mayBePaid(payment))) return suspended(visit, this.#subjectOf(payment, visit));
    const isDecision = trial === 'approve' || trial === 'reject';
    const asked = trying(payment, visit.request);
    return this.#change(visit, id, async (transaction) => {
      if (isDecision && status === 'pending') await tryOut(transaction, 'submit', asked);
      await tryOut(transaction, trial, asked);
    });
  }

  #triesOut({ merchant_id }: Payment): boolean {
    const { triesOut, directory } = this.#parts;
    return triesOut || directory.profile(merchant_id).triesOut === true;
  }

  /** Not for a payment of a suspended merchant, nor for one that was changed in the store itself: its amount may be wrong. */
  async #mayBePaid(payment: Payment): Promise<boolean> {
    const { database, directory } = this.#parts;
    return !directory.isSuspended(payment.merchant_id) && (await isPaymentAsRecorded(database, payment));
  }

  /** Does `work` and leads to the payment's page, also if another change came first, and if it was changed outside the service. */
  async #change(visit: CheckoutVisit, id: string, work: Work<unknown>): Promise<PageAnswer> {
    try {
      await this.#parts.journal.commit(work, id);
    } catch (error) {
      if (!(error instanceof OperationalError && ['invalid_status', 'conflict'].includes(error.code)))
        throw error;
    }
    return seePayment(visit);
  }

  /** The rest is asked for only where the payment may be paid; what the customer was told stays as it was. */
  async #due(payment: Payment): Promise<Due | undefined> {
    const due = dueOf(payment, this.#parts.offer);
    return due?.isRest && !(await this.#mayBePaid(payment)) ? undefined : due;
  }

  async #find({ asked }: CheckoutVisit): Promise<Payment | undefined> {
    const { database, clock } = this.#parts;
    if (asked.payment_id === undefined) return undefined;
    const payment = await findPayment(database, asked.payment_id);
    return payment && asOf(payment, clock.now());
  }

  #subjectOf(payment: Payment, { words }: CheckoutVisit): PaymentSubject {
    const { directory, ring } = this.#parts;
    const triesOut = this.#triesOut(payment);
    const amount = words.money(payment.amount_minor, payment.currency);
    const profile = directory.profile(payment.merchant_id);
    return { payment, profile, words, amount, isLong: isLongAmount(amount), ring, triesOut };
  }
}

const trying = ({ id, merchant_id }: Payment, request: { id: string }): TryOut => ({
  id,
  merchant_id,
  requestId: request.id,
});

/** The visit in the language that the merchant asks for, unless the customer chose one. */
function inLanguageOf({ locale }: Payment, visit: CheckoutVisit): CheckoutVisit {
  if (locale === null) return visit;
  const { site, asked, request } = visit;
  return { ...visit, words: site.languages.choose(asked.lang, locale, request.headers['accept-language']) };
}

/** The code of a transfer as a picture, opened in the browser: from there a phone saves it among its photos. */
function codeOf(payment: Payment, instructions: Instructions | null): SentPage | undefined {
  const text = codePicture(payment, instructions);
  const headers = { 'content-type': 'image/png', 'content-disposition': 'inline; filename="transfer.png"' };
  return text && { text, headers };
}

const missing = (visit: CheckoutVisit): SentPage => ({ status: 404, text: missingPage(visit) });
const unoffered = (visit: CheckoutVisit): SentPage => ({ status: 404, text: unofferedPage(visit) });
const suspended = (visit: CheckoutVisit, subject: PaymentSubject): SentPage => ({
  status: 403,
  text: suspendedPage(visit, subject),
});
/** Names a fragment, because the browser would keep the `#errors` of the form's action. */
const seePayment = (visit: CheckoutVisit) => ({ to: `${visit.address()}#main` });
