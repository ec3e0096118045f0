// Secrets that a form comes to: the same however often it is sent, so that neither a second click nor a reload makes another.
import { OperationalError } from '../lib/errors.ts';
import { type Html, html } from '../lib/html.ts';
import { randomId } from '../lib/ids.ts';
import { MINUTE_MS } from '../lib/time.ts';
import type { Context } from './route.ts';

const SEED = /^[0-9a-z]{26}$/;
/** For how long the same form, sent again, shows the same secret: after a second click, a reload. */
const SHOWN_AGAIN_MS = 10 * MINUTE_MS;

/** What makes the secret of a form: the same as long as it is the same form, however often it is sent. */
export function seedField({ form }: Context): Html {
  const sent = form.get('seed') ?? '';
  return html`<input type="hidden" name="seed" value="${SEED.test(sent) ? sent : randomId('')}">`;
}

/** The secret that a form comes to, in this session and under this address alone. Raises `bad_request` for a form without a seed. */
export function formSecret({ form, params, secretOf }: Context, prefix: string): string {
  const seed = form.get('seed') ?? '';
  if (!SEED.test(seed))
    throw new OperationalError('bad_request', 'The form is not whole. Open its page again.');
  return secretOf(prefix, `${params.merchant_id ?? ''} ${params.key_id ?? ''} ${seed}`);
}

/** Whether what a form has made may be shown once more. */
export function isShownAgain({ created_at }: { created_at: number }, now: number): boolean {
  return created_at >= now - SHOWN_AGAIN_MS;
}
