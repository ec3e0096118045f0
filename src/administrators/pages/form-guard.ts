// Tells a form of the console from a forged one: by a token that only our page holds, made with a session's secret or a cookie's.
import { type Html, hidden } from '../../lib/html.ts';
import * as token from '../../web/pages/form-token.ts';

/** What a token is made with: a session's secret, or before there is one the random bytes in the form cookie. */
export interface FormKey {
  kind: 'session' | 'form';
  secret: string;
}

export const tokenField = ({ kind, secret }: FormKey): Html =>
  hidden({ token: token.tokenOf(secret, `console ${kind}`) });

/** Whether a form holds the token of a key, whose secret no page and no other site can read. */
export const hasToken = (form: URLSearchParams, { kind, secret }: FormKey): boolean =>
  token.holdsToken(form, secret, `console ${kind}`);
