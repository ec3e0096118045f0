// Tells a form of ours from a forged one: where the browser says it comes from, and a token that only our page holds.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Html, html } from '../lib/html.ts';
import type { Payment } from '../payments/payment.ts';

export const ACTIONS = ['submit', 'cancel', 'ask'] as const;
export type Action = (typeof ACTIONS)[number];

/**
 * The token of one payment's form for one action. Its key is the payment's salt, which no page and no answer holds, so every
 * node makes the same token and none has to keep it.
 */
function token({ salt, id }: Pick<Payment, 'salt' | 'id'>, action: Action): string {
  return createHmac('sha256', salt).update(`checkout form\0${id}\0${action}`).digest('base64url');
}

/** The fields of a form that say which action it is and that it is ours. */
export function hiddenToken(payment: Payment, action: Action): Html {
  return html`<input type="hidden" name="action" value="${action}"><input type="hidden" name="token" value="${token(payment, action)}">`;
}

/** The action of a form that is ours and for this payment; nothing for any other. */
export function actionOf(payment: Payment, sent: URLSearchParams): Action | undefined {
  const action = ACTIONS.find((one) => one === sent.get('action'));
  if (!action) return undefined;
  const right = Buffer.from(token(payment, action));
  const given = Buffer.from(sent.get('token') ?? '');
  return given.length === right.length && timingSafeEqual(given, right) ? action : undefined;
}

/**
 * Whether a browser says that a POST comes from our own page: by Fetch Metadata where it sends that, else by Origin. A page
 * sent with `no-referrer` has an Origin of `null` even to itself, and other programs send none: there the token decides.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin === undefined || headers.origin === 'null' || headers.origin === origin;
}
