// The customer's pages: the list of their routes, and the site's answer to any other address.
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../lib/time.ts';
import { pathOf } from '../lib/web-address.ts';
import type { FailureLog } from '../web/pages/failure.ts';
import { type PageRoute, servePages } from '../web/pages/surface.ts';
import { type FrontLinks, FrontRoute } from './front-page.ts';
import { type InboxParts, InboxRoute } from './inbox.ts';
import type { PaymentParts } from './payment-parts.ts';
import { PaymentRoute } from './payment-route.ts';
import { VerifyRoute } from './verify-route.ts';
import { checkoutSite, type Name } from './visit.ts';

export interface Checkout extends PaymentParts, InboxParts, FailureLog {
  clock: Clock;
  timeZone: string;
  /** What the page at the root leads to; null in production. */
  front: FrontLinks | null;
  /** Pages of other rooms beside them. */
  more: readonly PageRoute<Name>[];
}

/** Registers the customer's pages, their forms and what they load on `app`. */
export async function checkout(app: FastifyInstance, settings: Checkout): Promise<void> {
  const { checkoutBaseUrl, timeZone } = settings;
  servePages(app, {
    ...settings,
    site: checkoutSite(checkoutBaseUrl, timeZone),
    routes: [
      new PaymentRoute(settings),
      new FrontRoute(pathOf(checkoutBaseUrl), settings.front),
      ...(settings.front ? [new InboxRoute(settings)] : []),
      new VerifyRoute(settings),
      ...settings.more,
    ],
  });
}
