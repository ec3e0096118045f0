// The customer's page of a payment: one address, whose status picks what it shows.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Database } from '../database/database.ts';
import type { OperationalError } from '../lib/errors.ts';
import { type Html, html } from '../lib/html.ts';
import { formatAmount } from '../lib/money.ts';
import { type Clock, formatTimestamp } from '../lib/time.ts';
import { asOf, isPaymentId, type Payment } from '../payments/payment.ts';
import { findPayment } from '../payments/queries.ts';
import { ASSET_HEADERS, assets } from '../ui/assets.ts';
import { PAGE_HEADERS, page } from '../ui/page.ts';

const LOCALE = 'en';

interface State {
  status: number;
  heading: (merchant: string) => string;
  money: (amount: string, merchant: string) => string;
}

const CANCELLED: State = {
  status: 200,
  heading: () => 'This payment was cancelled',
  money: () => 'You have not been charged.',
};

const EXPIRED: State = {
  status: 410,
  heading: () => 'This payment link has expired',
  money: () => 'You have not been charged.',
};

/** What each status says, and with which HTTP status. */
const STATES: Record<Payment['status'], State> = {
  pending: {
    status: 200,
    heading: (merchant) => `Pay ${merchant}`,
    money: () => 'You have not been charged.',
  },
  requires_review: {
    status: 200,
    heading: (merchant) => `${merchant} is checking your payment`,
    money: () => 'You have not been charged yet.',
  },
  approved: {
    status: 200,
    heading: () => 'Payment approved',
    money: (amount, merchant) => `${amount} to ${merchant} is confirmed.`,
  },
  rejected: {
    status: 200,
    heading: (merchant) => `${merchant} could not accept this payment`,
    money: () => 'You have not been charged.',
  },
  cancelled: CANCELLED,
};

/** Signs that several currencies share. */
const SHARED_SIGNS = new Set(['$', '¥', 'kr']);

/** The amount as people write it, never losing a fraction, with the code behind it where its sign names several currencies. */
function money(payment: Payment): string {
  const decimal = formatAmount(payment.amount_minor) as `${number}`;
  const format = new Intl.NumberFormat(LOCALE, {
    style: 'currency',
    currency: payment.currency,
    ...(decimal.endsWith('.00') ? {} : { minimumFractionDigits: 2 }),
  });
  const parts = format.formatToParts(decimal);
  const shared = parts.some(({ type, value }) => type === 'currency' && SHARED_SIGNS.has(value));
  return parts.map(({ value }) => value).join('') + (shared ? ` ${payment.currency}` : '');
}

const MOMENT = new Intl.DateTimeFormat(LOCALE, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
  timeZoneName: 'short',
});

function moment(ms: number): Html {
  return html`<time datetime="${formatTimestamp(ms)}">${MOMENT.format(ms)}</time>`;
}

/** Each status in the customer's words. */
const STATUS_WORDS: Record<Payment['status'], string> = {
  pending: 'Waiting for payment',
  requires_review: 'Being checked',
  approved: 'Approved',
  rejected: 'Not accepted',
  cancelled: 'Cancelled',
};

function paymentPage(payment: Payment, basePath: string): { status: number; text: string } {
  const state = payment.status_reason === 'expired' ? EXPIRED : STATES[payment.status];
  const amount = money(payment);
  const heading = state.heading(payment.merchant_name);
  const rows: [string, Html | string | null][] = [
    ['Merchant', payment.merchant_name],
    ['Status', state === EXPIRED ? 'Expired' : STATUS_WORDS[payment.status]],
    ['Reference', payment.merchant_reference],
    [
      payment.status === 'pending' ? 'Pay by' : 'Last changed',
      moment(payment.status === 'pending' ? payment.expires_at : payment.updated_at),
    ],
    ['Payment', payment.id],
  ];
  const content = html`${payment.mode === 'test' && html`<p class="test">Test payment. No money will move.</p>`}
<h1>${heading}</h1>
<p class="amount"><bdi>${amount}</bdi></p>
<p>${state.money(amount, payment.merchant_name)}</p>
${payment.description && html`<p class="description">${payment.description}</p>`}
<dl>
${rows.filter(([, value]) => value !== null).map(([name, value]) => html`<div><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>\n`)}</dl>`;
  const title = `${heading} – ${payment.merchant_name}`;
  return { status: state.status, text: page({ title, basePath, content }) };
}

function notFoundPage(basePath: string): string {
  const content = html`<h1>We cannot find this payment</h1>
<p>If you were sent this link, check that it was copied in full.</p>`;
  return page({ title: 'We cannot find this payment', basePath, content });
}

function failurePage(basePath: string, requestId: string): string {
  const content = html`<h1>There is a problem with this page</h1>
<p>You have not been charged by this page load. Try again in a few minutes.</p>
<dl><div><dt>Error reference</dt><dd><bdi>${requestId}</bdi></dd></div></dl>`;
  return page({ title: 'There is a problem with this page', basePath, content });
}

export interface Checkout {
  database: Database;
  clock: Clock;
  /** The path of `checkout_base_url`, without a slash at its end. */
  basePath: string;
  /** A failure as the contract knows it; nothing where it is a defect. */
  asOperationalError(error: unknown): OperationalError | undefined;
  /** Logs a failure whose page only shows the request's id. */
  report(error: unknown, requestId: string): void;
}

/** Registers the customer's pages and what they load on `app`, below `basePath`. */
export async function checkout(app: FastifyInstance, settings: Checkout): Promise<void> {
  const { database, clock, basePath, asOperationalError, report } = settings;
  const send = (reply: FastifyReply, status: number, text: string) =>
    reply.code(status).headers(PAGE_HEADERS).send(text);

  app.setErrorHandler((error, request, reply) => {
    // A request that was refused for its form before it came here is no failure of a page.
    const known = asOperationalError(error);
    if (known && known.status < 500) throw known;
    report(error, request.id);
    if (known?.retryAfterS !== undefined) reply.header('retry-after', String(known.retryAfterS));
    return send(reply, known?.status ?? 500, failurePage(basePath, request.id));
  });

  app.get('/payment.php', async (request, reply) => {
    const { payment_id } = request.query as Record<string, unknown>;
    const payment =
      typeof payment_id === 'string' && isPaymentId(payment_id)
        ? await findPayment(database, payment_id)
        : undefined;
    if (!payment) return send(reply, 404, notFoundPage(basePath));
    const { status, text } = paymentPage(asOf(payment, clock.now()), basePath);
    return send(reply, status, text);
  });

  for (const { name, type, content } of assets) {
    app.get(`/${name}`, (_request, reply) =>
      reply.headers({ ...ASSET_HEADERS, 'content-type': type }).send(content),
    );
  }
}
