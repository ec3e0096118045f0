// Tells a form of ours from a forged one: where the browser says it comes from, and a token that only our page holds.

import type { KeyRing } from '../journal/keys/key-ring.ts';
import { type Html, hidden } from '../lib/html.ts';
import type { Instructions } from '../payments/methods/method.ts';
import type { Payment } from '../payments/payment.ts';

const ACTIONS = ['submit', 'withdraw', 'cancel', 'ask', 'try'] as const;
type Action = (typeof ACTIONS)[number];

/**
 * What the token of one payment's form authenticates. Every node makes the same token, so it is stored nowhere; it is good as long as
 * the payment is. `terms` are what the form rests on beside the payment.
 */
function statement({ id }: Payment, action: Action, terms: readonly string[]): string {
  return JSON.stringify(['checkout form', id, action, ...terms]);
}

/** The fields of a form that say which action it is and that it is ours. */
export function hiddenToken(ring: KeyRing, payment: Payment, action: Exclude<Action, 'submit'>): Html {
  return hidden({ action, token: ring.mac('checkout form', statement(payment, action, [])) });
}

/**
 * The token of the form of a method. What the page tells the customer to do (`shown`, as JSON text) goes along with it, and is under it:
 * what is kept is what they were shown, whatever the configuration says by the time they send it.
 */
export function submitToken(ring: KeyRing, payment: Payment, method: string, shown: string | null): string {
  return ring.mac('checkout form', statement(payment, 'submit', [method, shown ?? '']));
}

/** The action of a form that is ours, for this payment and method; nothing for any other. */
export function actionOf(
  ring: KeyRing,
  payment: Payment,
  sent: URLSearchParams,
  method: string | undefined,
): Action | undefined {
  const action = ACTIONS.find((one) => one === sent.get('action'));
  if (!action) return undefined;
  const terms = action === 'submit' ? [method ?? '', sent.get('shown') ?? ''] : [];
  const stated = statement(payment, action, terms);
  return ring.isMac('checkout form', stated, sent.get('token') ?? '') ? action : undefined;
}

/** The instructions that the customer was shown, from a form whose token was right. */
export function shownInstructions(sent: URLSearchParams): Instructions | null {
  const shown = sent.get('shown');
  return shown ? (JSON.parse(shown) as Instructions) : null;
}
