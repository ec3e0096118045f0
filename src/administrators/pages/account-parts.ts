// What the pages of an account have in common: whose it is, what they must prove, and a page of one form.

import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Administrator } from '../administrator.ts';
import type { Passkey } from '../passkey.ts';
import { findAdministrator, passkeysOf } from '../queries.ts';
import type { PasswordRefusal } from '../sign-in.ts';
import type { Faults } from './parts.ts';
import type { Context, Shown } from './route.ts';
import { timeOfDay } from './sign-in-whole.ts';
import { deviceCookie } from './signed-in.ts';

export const EMPTY: Faults = {};

/** What was done, by the word in the address that leads back. */
const DONE: Readonly<Record<string, string>> = {
  password: 'Your password is changed. Everywhere else you are signed out.',
  passkey: 'The passkey is added.',
  removed: 'The passkey is removed. Everywhere else you are signed out.',
  totp: 'The new authenticator app is the one that counts. Everywhere else you are signed out.',
  sessions: 'Everywhere else you are signed out.',
};

export function doneIn(query: URLSearchParams): string | undefined {
  const word = query.get('done') ?? '';
  return Object.hasOwn(DONE, word) ? DONE[word] : undefined;
}

/** The account as it is. Their row is there: they are signed in. */
export async function own({
  database,
  principal,
}: Context): Promise<{ row: Administrator; passkeys: Passkey[] }> {
  const row = await findAdministrator(database, principal.id);
  if (!row) throw new OperationalError('not_found', 'There is no such administrator.');
  return { row, passkeys: await passkeysOf(database, principal.id) };
}

export const asking = ({ principal, form, request }: Context) => ({
  principal,
  password: form.get('current-password') ?? '',
  requestId: request.id,
});

/** What is wrong where the present password is not there. */
export const passwordMissing = ({ form }: Context): Faults =>
  form.get('current-password') ? EMPTY : { 'current-password': 'Enter your password as it is now' };

export function refusalFaults({ timeZone }: Context, refusal: PasswordRefusal): Faults {
  return refusal.refused === 'wrong'
    ? { 'current-password': 'This is not your password' }
    : { 'current-password': `Too many attempts. Try again at ${timeOfDay(timeZone, refusal.until)}` };
}

/** Keeps this browser a known one, after a change of `administrator` that made all device cookies void. */
export const knownAgain = (context: Context, administrator: Administrator) => ({
  'set-cookie': deviceCookie(context, administrator, context.now),
});

/** A page of one form about the account. */
export function formPage(
  context: Context,
  parts: {
    title: string;
    path: string;
    button: string;
    faults: Faults;
    inside: Html;
    lead?: Html | undefined;
  },
): Shown {
  const { title, path, button, faults, inside, lead } = parts;
  return {
    title,
    place: '/account',
    faults,
    content: html`<p><a class="plain" href="${context.address('/account')}">Your account</a></p>
<h1>${title}</h1>
${lead}
<form class="narrow" method="post" action="${context.address(path)}#errors" novalidate>
${context.token}
${inside}
<button class="primary">${button}</button>
</form>`,
  };
}
