// Secrets that a form comes to: the same however often it is sent, so that neither a second click nor a reload makes another.

import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { randomId } from '../../lib/ids.ts';
import { phrase } from '../../lib/phrases.ts';
import { sha256Hex } from '../../lib/secrets.ts';
import type { Context } from './route.ts';

const SEED = /^[0-9a-z]{26}$/;

/** What makes the secret of a form: the same as long as it is the same form, however often it is sent. */
export function seedField({ form }: Context): Html {
  const sent = form.get('seed') ?? '';
  return html`<input type="hidden" name="seed" value="${SEED.test(sent) ? sent : randomId('')}">`;
}

/**
 * The secret that a form comes to, with all that it says, in this session and under this address alone: a form that says anything else
 * comes to another. Throws `bad_request` for a form without a seed.
 */
export function formSecret({ form, params, secretOf }: Context, prefix: string): string {
  const seed = form.get('seed') ?? '';
  if (!SEED.test(seed))
    throw new OperationalError('bad_request', phrase('The form is not whole. Open its page again.'));
  const said = [...form].filter(([name]) => name !== 'token');
  const all = JSON.stringify([params.merchant_id ?? null, params.key_id ?? null, said]);
  return secretOf(prefix, `${seed} ${sha256Hex(all)}`);
}
