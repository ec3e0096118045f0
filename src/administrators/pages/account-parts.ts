// What the pages of an account have in common: whose it is, what they must prove, and a page of one form.

import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import type { Administrator } from '../administrator.ts';
import type { PasswordRefusal } from '../failures.ts';
import type { Passkey } from '../passkey.ts';
import { findAdministrator, passkeysOf } from '../queries.ts';
import type { Faults } from './parts.ts';
import type { Context, Shown } from './route.ts';
import { timeOfDay } from './sign-in.ts';
import { deviceCookie } from './signed-in.ts';

export const EMPTY: Faults = {};

/** What was done, by the word in the address that leads back. */
const DONE: Readonly<Record<string, string>> = {
  password: phrase('Your password is changed. You are signed out everywhere else.'),
  passkey: phrase('The passkey is added.'),
  removed: phrase('The passkey is removed. You are signed out everywhere else.'),
  totp: phrase('You use the new authenticator app from now on. You are signed out everywhere else.'),
  sessions: phrase('You are signed out everywhere else.'),
};

export function doneIn({ query, say }: Context): string | undefined {
  const word = query.get('done') ?? '';
  return Object.hasOwn(DONE, word) ? say.of(DONE[word]!) : undefined;
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

export const asking = ({ principal, form }: Context) => ({
  principal,
  password: form.get('current-password') ?? '',
});

/** What is wrong where the present password is not there. */
export const passwordMissing = ({ form, say }: Context): Faults =>
  form.get('current-password') ? EMPTY : { 'current-password': say`Enter your current password` };

export function refusalFaults({ timeZone, say }: Context, refusal: PasswordRefusal): Faults {
  return refusal.refused === 'wrong'
    ? { 'current-password': say`This is not your password` }
    : { 'current-password': say`Too many attempts. Try again at ${timeOfDay(timeZone, refusal.until)}` };
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
    content: html`<p><a class="plain" href="${context.address('/account')}">${context.say`Your account`}</a></p>
<h1>${title}</h1>
${lead}
<form class="narrow" method="post" action="${context.address(path)}#errors" novalidate>
${context.token}
${inside}
<button class="primary">${button}</button>
</form>`,
  };
}
