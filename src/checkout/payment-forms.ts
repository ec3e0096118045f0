// Takes the forms of a payment's page: what a customer sends, takes back, cancels, asks for or tries out.

import type { Work } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { MINUTE_MS } from '../lib/time.ts';
import { keepAnnouncement, withdraw } from '../payments/announce.ts';
import { decisionFor } from '../payments/methods/fields.ts';
import type { Method } from '../payments/methods/method.ts';
import type { Payment } from '../payments/payment.ts';
import { cancelByCustomer, requestLink, submitPayment } from '../payments/submit.ts';
import { TRIALS, type TryOut, tryOut } from '../review/try-out.ts';
import { isSameOrigin } from '../web/pages/form.ts';
import { busyPage, refusedPage } from '../web/pages/problem.ts';
import type { SiteAnswer } from '../web/pages/site.ts';
import { fromNetwork, Throttle } from '../web/rate-limit.ts';
import { saysSent, transferIn, typedAddress, unsavedPage } from './announced.ts';
import { actionOf, knownContacts, readForm, shownInstructions, submissionFrom } from './form.ts';
import {
  mayBePaid,
  mayTryOut,
  missingPayment,
  type PaymentParts,
  seePayment,
  shownPayment,
  speakFor,
  subjectOf,
  suspended,
  unoffered,
} from './payment-parts.ts';
import { pendingPage } from './pending-page.ts';
import type { CheckoutVisit } from './visit.ts';

/** Forms are limited within this. */
const WINDOW_MS = 10 * MINUTE_MS;

interface FormSent {
  ip: string;
  id: string;
}

export class PaymentForms {
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
    const submission = submissionFrom(transfer, kept, shownInstructions(form), words.tag);
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
    const submission = submissionFrom(method, typed.kept, shownInstructions(form), words.tag);
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
