// A request for the customer's page of a payment: what its address may hold, and whose page it is.

import { isPaymentId } from '../payments/payment.ts';
import { Languages } from '../web/markup/languages.ts';
import type { SiteRoute } from '../web/pages/site.ts';
import type { PageSite, PageVisit } from '../web/pages/visit.ts';

type Name = 'payment_id' | 'method' | 'view' | 'edit' | 'typed' | 'from' | 'number' | 'payer';
export type CheckoutVisit = PageVisit<Name>;
export type CheckoutRoute = SiteRoute<Name>;

/** `baseUrl`: without a slash at its end. */
export function checkoutSite(baseUrl: string, timeZone: string): PageSite<Name> {
  return {
    languages: Languages.in(timeZone),
    baseUrl,
    parameters: {
      payment_id: { isKept: true, accepts: isPaymentId },
      payer: { isKept: true },
      lang: { isKept: true },
      method: {},
      view: {},
      edit: {},
      typed: {},
      from: {},
      number: {},
      theme: {},
    },
    words: { skip: 'skip', refused: 'refused.lead', failed: 'failure.lead', back: 'refused.back' },
    backAfterFailure: 'primary',
  };
}
