// The customer's pages: the list of their routes, the page at the root, and what a browser is shown at any other address.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from '../lib/html.ts';
import type { Clock } from '../lib/time.ts';
import { pageHeaders } from '../web/markup/page.ts';
import { framedPage } from '../web/pages/framed-page.ts';
import { nowherePage } from '../web/pages/problem.ts';
import { pageAt } from '../web/pages/route.ts';
import { serveSite } from '../web/pages/site.ts';
import type { FailureLog } from '../web/pages/surface.ts';
import { pageVisitOf } from '../web/pages/visit.ts';
import { type InboxParts, inboxRoutes } from './inbox.ts';
import type { PaymentParts } from './parts.ts';
import { paymentRoutes } from './payment-route.ts';
import { verifyRoute } from './verify-route.ts';
import { type CheckoutRoute, type CheckoutVisit, checkoutSite } from './visit.ts';

export interface Checkout extends PaymentParts, InboxParts, FailureLog {
  clock: Clock;
  timeZone: string;
  /** What the page at the root leads to; null in production. */
  front: FrontLinks | null;
  /** Pages of other rooms beside them. */
  more: readonly CheckoutRoute[];
}

/** Registers the customer's pages, their forms and what they load on `app`. */
export async function checkout(app: FastifyInstance, settings: Checkout): Promise<void> {
  const { checkoutBaseUrl, timeZone } = settings;
  serveSite(app, {
    ...settings,
    site: checkoutSite(checkoutBaseUrl, timeZone),
    routes: [
      ...paymentRoutes(settings),
      frontRoute(settings.front),
      ...(settings.front ? inboxRoutes(settings) : []),
      verifyRoute(settings),
      ...settings.more,
    ],
  });
}

/** Returns what a browser is shown at an address at which there is nothing. `checkoutBaseUrl`: where the pages of checkout lie. */
export function nowhere({ checkoutBaseUrl, timeZone }: Pick<Checkout, 'checkoutBaseUrl' | 'timeZone'>) {
  const site = checkoutSite(checkoutBaseUrl, timeZone);
  const headers = pageHeaders(checkoutBaseUrl);
  return (request: FastifyRequest) => {
    const visit = pageVisitOf(request, site, '/');
    return { headers, text: framedPage(visit, nowherePage(visit)) };
  };
}

/** Where a developer goes on. */
export interface FrontLinks {
  /** Undefined if registration is closed. */
  registerUrl: string | undefined;
  consoleUrl: string;
  /** Undefined if the documentation is switched off. */
  docsUrl: string | undefined;
  descriptionUrl: string;
  inboxUrl: string;
  mailUrl: string;
}

const NO_PAYMENT = { payment_id: undefined };

/** `links`: null in production, where the page names no other place. */
const frontRoute = (links: FrontLinks | null): CheckoutRoute =>
  pageAt('/', 'anyone', (visit) => {
    const { words } = visit;
    const content = html`<h1>${words.html('front.heading')}</h1>
<p>${words.html('front.lead')}</p>
<p>${words.html('front.customer')}</p>
${links && developers(visit, links)}`;
    const heading = words.text('front.heading');
    return { heading, brand: 'Counterfoil', content, skip: words.html('register.skip'), here: NO_PAYMENT };
  });

function developers(
  { words }: CheckoutVisit,
  { registerUrl, consoleUrl, docsUrl, descriptionUrl, inboxUrl, mailUrl }: FrontLinks,
) {
  return html`<h2>${words.html('front.developer')}</h2>
<ul class="doors">
${docsUrl !== undefined && html`<li>${words.html('front.docs', { file: html`<a href="${docsUrl}"><bdi>/docs</bdi></a>` })}</li>`}
${registerUrl !== undefined && html`<li><a href="${registerUrl}">${words.html('front.register')}</a></li>`}
<li><a href="${consoleUrl}">${words.html('front.console')}</a></li>
<li><a href="${descriptionUrl}">${words.html('front.api')}</a></li>
<li><a href="${inboxUrl}">Webhooks: <code>/dev/inbox</code></a></li>
<li><a href="${mailUrl}">Mail: <code>/dev/mail</code></a></li>
</ul>`;
}
