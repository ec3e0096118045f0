// The customer's pages of a payment: one address, whose status picks what it shows and what its forms may do.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../database/database.ts';
import { FORM_TYPE, isSameOrigin, readForms } from '../http/form.ts';
import { type PolicyReport, policyReports } from '../http/policy-reports.ts';
import { note, noteFields } from '../http/request-log.ts';
import type { Journal } from '../journal/journal.ts';
import type { Work } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { type Clock, SECOND_MS } from '../lib/time.ts';
import { pathOf } from '../lib/web-address.ts';
import type { Directory } from '../merchants/directory.ts';
import type { Offer } from '../methods/offer.ts';
import { asOf, type Payment } from '../payments/payment.ts';
import { PAYMENT_PAGE } from '../payments/present.ts';
import { findPayment } from '../payments/queries.ts';
import { cancelByCustomer, requestLink, submitPayment } from '../payments/submit.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { ASSET_HEADERS, assets } from '../ui/assets.ts';
import { Languages } from '../ui/languages.ts';
import { POLICY_REPORTS, pageHeaders } from '../ui/page.ts';
import { themeCookie } from '../ui/theme.ts';
import { knownContacts, readForm, submissionOf } from './form.ts';
import { actionOf, shownInstructions } from './form-guard.ts';
import { isLong, type Subject } from './parts.ts';
import { cancelPage, pendingPage } from './pending-page.ts';
import { busyPage, failurePage, missingPage, refusedPage, suspendedPage } from './problem-page.ts';
import { statePage } from './state-page.ts';
import { createThrottle, type ThrottleLimits } from './throttle.ts';
import { anonymous, type Visit, visitOf } from './visit.ts';

export interface Checkout {
  database: Database;
  journal: Journal;
  clock: Clock;
  ring: KeyRing;
  directory: Directory;
  offer: Offer;
  /** Without a slash at its end. */
  checkoutBaseUrl: string;
  timeZone: string;
  limits: ThrottleLimits;
  /** A failure as the contract knows it; nothing where it is a defect. */
  asOperationalError(error: unknown): OperationalError | undefined;
  /** Logs a failure whose page only shows the request's id. */
  report(error: unknown, requestId: string): void;
  /** Logs that a page could not be shown for now. */
  warn(message: string, requestId: string): void;
  /** Logs what a browser's policy stopped. */
  reportPolicy(found: PolicyReport): void;
}

/** Registers the customer's pages, their forms and what they load on `app`. */
export async function checkout(app: FastifyInstance, settings: Checkout): Promise<void> {
  const { database, journal, clock, directory, offer, checkoutBaseUrl, asOperationalError } = settings;
  const headers = pageHeaders(checkoutBaseUrl);
  const { origin } = new URL(checkoutBaseUrl);
  const place = {
    languages: Languages.in(settings.timeZone),
    baseUrl: checkoutBaseUrl,
    basePath: pathOf(checkoutBaseUrl),
    ring: settings.ring,
  };
  const throttle = createThrottle(settings.limits, clock);

  /** Sets the head of an answer and gives its text: what a handler returns is sent in a step of its own (`inCohorts`). */
  const page = (reply: FastifyReply, status: number, text: string) => {
    reply.code(status).headers(headers);
    return text;
  };
  const seeOther = (reply: FastifyReply, address: string) =>
    reply
      .code(303)
      .headers({ ...headers, location: address })
      .send();
  /** Says where it leads itself, since a browser would keep the `#errors` of the form's action. */
  const seePayment = (reply: FastifyReply, visit: Visit) => seeOther(reply, `${visit.address()}#main`);

  async function find(visit: Visit): Promise<Payment | undefined> {
    const { payment_id } = visit.asked;
    if (payment_id === undefined) return undefined;
    const payment = await findPayment(database, payment_id);
    return payment && asOf(payment, clock.now());
  }

  function subjectOf(payment: Payment, { words }: Visit): Subject {
    const amount = words.money(payment.amount_minor, payment.currency);
    const profile = directory.profile(payment.merchant_id);
    return { payment, profile, words, amount, isLong: isLong(amount) };
  }

  async function show(request: FastifyRequest, reply: FastifyReply) {
    const visit = visitOf(request, place);
    const { theme, method: wanted, view, edit } = visit.asked;
    if (theme !== undefined) {
      const cookie = themeCookie(theme, checkoutBaseUrl);
      return seeOther(reply.header('set-cookie', cookie), visit.address({ method: wanted, view, edit }));
    }
    const payment = await find(visit);
    if (!payment) return page(reply, 404, missingPage(anonymous(visit)));
    const subject = subjectOf(payment, visit);
    if (payment.status !== 'pending') {
      const { status, text } = statePage(visit, subject);
      return page(reply, status, text);
    }
    if (directory.isSuspended(payment.merchant_id)) return page(reply, 403, suspendedPage(visit, subject));
    if (view === 'cancel') return page(reply, 200, cancelPage(visit, subject));
    const methods = offer.methodsFor(payment);
    const method = wanted === undefined ? methods[0] : methods.find(({ id }) => id === wanted);
    if (!method) return page(reply, 404, refusedPage(visit, 'unoffered'));
    return page(reply, 200, pendingPage(visit, { ...subject, methods, method }));
  }

  async function take(request: FastifyRequest, reply: FastifyReply) {
    const visit = visitOf(request, place);
    const payment = await find(visit);
    if (!payment) return page(reply, 404, missingPage(anonymous(visit)));
    const sent = request.body as URLSearchParams;
    const action = isSameOrigin(request.headers, origin)
      ? actionOf(visit.ring, payment, sent, visit.asked.method)
      : undefined;
    const waitMs = action ? throttle.form(request) : throttle.forged(request);
    if (waitMs > 0) {
      reply.header('retry-after', String(Math.ceil(waitMs / SECOND_MS)));
      note(request, { code: 'rate_limited', limit: 'checkout_forms' });
      return page(reply, 429, busyPage(visit, waitMs));
    }
    if (!action) return page(reply, 403, refusedPage(visit, 'refused'));
    if (action === 'submit') return submit(request, reply, visit, payment, sent);
    const { id } = payment;
    const act = action === 'cancel' ? cancelByCustomer : requestLink;
    return change(reply, visit, id, (transaction) => act(transaction, id, request.id));
  }

  async function submit(
    request: FastifyRequest,
    reply: FastifyReply,
    visit: Visit,
    payment: Payment,
    sent: URLSearchParams,
  ) {
    if (payment.status !== 'pending') return seePayment(reply, visit); // shown what became of it
    if (directory.isSuspended(payment.merchant_id))
      return page(reply, 403, suspendedPage(visit, subjectOf(payment, visit)));
    const { words, asked } = visit;
    const methods = offer.methodsFor(payment);
    const method = methods.find(({ id }) => id === asked.method);
    if (!method) return page(reply, 404, refusedPage(visit, 'unoffered'));
    const known = knownContacts(payment, method, asked.edit);
    const typed = readForm(sent, method, known, words, payment.merchant_name, clock.now());
    if (typed.faults.length > 0) {
      noteFields(request, Object.fromEntries(typed.faults.map(({ field }) => [field, true])));
      const subject = subjectOf(payment, visit);
      return page(reply, 422, pendingPage(visit, { ...subject, methods, method, typed }));
    }
    const submission = submissionOf(method, typed.kept, shownInstructions(sent), words.tag);
    const { id } = payment;
    return change(reply, visit, id, (transaction) => submitPayment(transaction, id, request.id, submission));
  }

  /** Does `work` and leads to the payment's page, which shows what is: also to whoever came second. */
  async function change(reply: FastifyReply, visit: Visit, id: string, work: Work<unknown>) {
    try {
      await journal.commit(work, id);
    } catch (error) {
      if (!(error instanceof OperationalError && error.code === 'invalid_status')) throw error;
    }
    return seePayment(reply, visit);
  }

  app.setErrorHandler((error, request, reply) => {
    const known = asOperationalError(error);
    const ours = request.method === 'POST' && request.routeOptions.url?.endsWith(PAYMENT_PAGE);
    // A request that was refused for its form before it came here is no failure of a page.
    if (known && known.status < 500 && !ours) throw known;
    note(request, { code: known?.code ?? 'internal_error' });
    const visit = visitOf(request, place);
    if (known && known.status < 500)
      return reply.send(page(reply, known.status, refusedPage(visit, 'refused')));
    if (!known) settings.report(error, request.id);
    else settings.warn(known.message, request.id);
    if (known?.retryAfterS !== undefined) reply.header('retry-after', String(known.retryAfterS));
    return reply.send(page(reply, known?.status ?? 500, failurePage(visit, request.id)));
  });

  app.get(`/${PAYMENT_PAGE}`, show);
  app.register(async (scope) => {
    readForms(scope);
    scope.addHook('preHandler', async ({ body }) => {
      if (!(body instanceof URLSearchParams))
        throw new OperationalError('unsupported_media_type', `The form must be ${FORM_TYPE}.`);
    });
    scope.post(`/${PAYMENT_PAGE}`, take);
  });
  app.register(policyReports, {
    prefix: `/${POLICY_REPORTS}`,
    now: () => clock.now(),
    report: settings.reportPolicy,
  });
  for (const { name, type, content } of assets) {
    app.get(`/${name}`, (_request, reply) =>
      reply.headers({ ...ASSET_HEADERS, 'content-type': type }).send(content),
    );
  }
}
