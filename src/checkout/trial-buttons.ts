// The buttons on a test payment's page with which a developer brings it to every state.
import { type Html, html } from '../lib/html.ts';
import type { Trial } from '../review/try-out.ts';
import { hiddenToken } from './form-guard.ts';
import type { PaymentSubject } from './parts.ts';
import type { CheckoutVisit } from './visit.ts';

/** What a customer's page offers; what administrators do besides is tried out by the API. */
type Offered = Exclude<Trial, 'record' | 'request_link'>;
const OFFERED: Partial<Record<PaymentSubject['payment']['status'], readonly Offered[]>> = {
  pending: ['submit', 'approve', 'reject', 'expire'],
  requires_review: ['approve', 'reject'],
};

/** The buttons as a disclosure, or null where nothing can be tried out. */
export function trialButtons({ address }: CheckoutVisit, subject: PaymentSubject): Html | null {
  const { payment, words, ring, triesOut } = subject;
  const offered = triesOut && payment.mode === 'test' ? OFFERED[payment.status] : undefined;
  if (!offered) return null;
  return html`<details class="trial"><summary>${words.html('trial.summary')}</summary>
<p>${words.html('trial.text')}</p>
<form method="post" action="${address()}" class="actions">
${hiddenToken(ring, payment, 'try')}
${offered.map((trial) => html`<button class="secondary" name="trial" value="${trial}">${words.html(`trial.${trial}`)}</button>\n`)}</form>
</details>`;
}
