// Tells a form of ours from a forged one: where the browser says it comes from, and a token that only our page holds.
import { type Html, hidden } from '../lib/html.ts';
import { hmac, isSame } from '../lib/secrets.ts';
import type { Instructions } from '../methods/method.ts';
import type { Payment } from '../payments/payment.ts';

export const ACTIONS = ['submit', 'cancel', 'ask'] as const;
export type Action = (typeof ACTIONS)[number];

/**
 * The token of one payment's form. Its key is the payment's salt, which no page and no answer holds, so every node makes the
 * same token and none has to keep it. `terms` are what the form rests on beside the payment.
 */
function token({ salt, id }: Pick<Payment, 'salt' | 'id'>, action: Action, terms: readonly string[]): string {
  const text = JSON.stringify(['checkout form', id, action, ...terms]);
  return hmac(salt, text);
}

/** The fields of a form that say which action it is and that it is ours. */
export function hiddenToken(payment: Payment, action: Exclude<Action, 'submit'>): Html {
  return hidden({ action, token: token(payment, action, []) });
}

/**
 * The token of the form of a method. What the page tells the customer to do (`shown`, as JSON text) goes along with it, and is under it:
 * what is kept is what they were shown, whatever the configuration says by the time they send it.
 */
export function submitToken(payment: Payment, method: string, shown: string | null): string {
  return token(payment, 'submit', [method, shown ?? '']);
}

/** The action of a form that is ours, for this payment and method; nothing for any other. */
export function actionOf(
  payment: Payment,
  sent: URLSearchParams,
  method: string | undefined,
): Action | undefined {
  const action = ACTIONS.find((one) => one === sent.get('action'));
  if (!action) return undefined;
  const terms = action === 'submit' ? [method ?? '', sent.get('shown') ?? ''] : [];
  return isSame(sent.get('token') ?? '', token(payment, action, terms)) ? action : undefined;
}

/** What a form whose token was right says its customer was told to do. */
export function shownInstructions(sent: URLSearchParams): Instructions | null {
  const shown = sent.get('shown');
  return shown ? (JSON.parse(shown) as Instructions) : null;
}
