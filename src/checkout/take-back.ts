// The button with which a customer takes back what they sent by mistake.
import { type Html, html } from '../lib/html.ts';
import { mayWithdraw } from '../payments/announce.ts';
import { hiddenToken } from './form-guard.ts';
import type { PaymentSubject } from './parts.ts';
import type { CheckoutVisit } from './visit.ts';

/** The button as a disclosure, or null where nothing can be taken back. A test card is no announcement. */
export function takeBack({ address }: CheckoutVisit, subject: PaymentSubject): Html | null {
  const { payment, words, ring, now } = subject;
  if (!mayWithdraw(payment, now) || payment.method === 'test_card') return null;
  // What has ended can no longer be paid here.
  const isOpen = payment.status !== 'cancelled' && now < payment.expires_at;
  return html`<details class="cancel"><summary>${words.html('withdraw.summary')}</summary>
<p>${words.html('withdraw.text')}${isOpen && html` ${words.html('withdraw.then')}`}</p>
<form method="post" action="${address()}" class="actions">
${hiddenToken(ring, payment, 'withdraw')}
<button class="secondary">${words.html('withdraw.button')}</button>
</form>
</details>`;
}
