// The signed-in administrator's own account: their name and role, their factors, and their sessions.
import { Readable } from 'node:stream';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { changePassword, renewRecoveryCodes, replaceTotp, signOutElsewhere } from '../account.ts';
import { failuresSince } from '../failures.ts';
import { openSessionsOf, sessionBefore } from '../queries.ts';
import { codesLeft } from '../recovery-codes.ts';
import { SESSIONS_MAXIMUM } from '../session.ts';
import {
  asking,
  doneIn,
  EMPTY,
  formPage,
  knownAgain,
  own,
  passwordMissing,
  refusalFaults,
} from './account-parts.ts';
import {
  currentPasswordField,
  newPasswordFaults,
  newPasswordFields,
  ofPassword,
  RECOVERY_CODE,
  recoveryCodes,
  secretOf,
  totpFields,
  totpIn,
} from './factor-parts.ts';
import { literal, moment, notice, rows, said } from './parts.ts';
import type { Context, Outcome, Shown } from './route.ts';
import { signedInCookies } from './signed-in.ts';

/** What failed with their address since they signed in the time before this. */
async function failedAttempts(context: Context): Promise<Html> {
  const { database, principal } = context;
  const since = (await sessionBefore(database, principal.id, principal.session!)) ?? 0;
  const { count, withPassword, last } = await failuresSince(context, principal.email, since);
  if (last === undefined) return html`None since you signed in before`;
  return html`${count} since you signed in before, the last
${moment(context, last)}${
  withPassword > 0 &&
  html`.
<strong>${withPassword} of them with your password</strong>: if that was not you, change it`
}`;
}

export async function accountPage(context: Context): Promise<Shown> {
  const { address, query, keys, principal, database, now } = context;
  const { row, passkeys } = await own(context);
  const sessions = await openSessionsOf(database, principal.id, now);
  const done = doneIn(query);
  const change = (path: string, text: string) => html`<a class="plain" href="${address(path)}">${text}</a>`;
  const left = codesLeft(row.recovery_codes);
  return {
    title: 'Your account',
    place: '/account',
    content: html`${done !== undefined && notice(html`<p>${done}</p>`)}
<h1>Your account</h1>
${rows([
  ['Name', said(row.name)],
  ['Email address', literal(row.email)],
  ['Role', row.role],
])}
<section class="part">
<h2>How you sign in</h2>
${rows([
  ['Password', change('/account/password', 'Change the password')],
  [
    'Authenticator app',
    html`${row.totp_secret === null ? 'None' : 'Set up'} ·
${change('/account/authenticator', row.totp_secret === null ? 'Add an app' : 'Use another app')}`,
  ],
  ['Passkeys', html`${passkeys.length} · ${change('/account/passkeys', 'Add or remove passkeys')}`],
  ['Recovery codes', html`${left} left · ${change('/account/recovery-codes', 'Make new ones')}`],
  ['Failed attempts', await failedAttempts(context)],
])}
</section>
<section class="part">
<h2>Where you are signed in</h2>
<ul class="list">${sessions.map(
      (one) =>
        html`<li>Since ${moment(context, one.created_at)}${one.id === principal.session && html` <strong>(this browser)</strong>`},
until ${moment(context, one.expires_at)} at the latest</li>`,
    )}</ul>
<p class="hint">At most ${SESSIONS_MAXIMUM} at a time: signing in once more signs you out where you signed in first.</p>
${sessions.length > 1 && html`<p>${change('/account/sessions', 'Sign out everywhere else')}</p>`}
</section>
<section class="part">
<h2>Keyboard shortcuts</h2>
<p>Single letters work as shortcuts in the console: <kbd>?</kbd> lists them.
They are <strong>${keys ? 'on' : 'off'}</strong> in this browser.</p>
<p><a class="plain" href="${address('/account', { keys: keys ? 'off' : 'on' })}">${keys ? 'Switch them off' : 'Switch them on'}</a></p>
</section>`,
  };
}

export function passwordPage(context: Context, faults = EMPTY): Shown {
  return formPage(context, {
    title: 'Change your password',
    path: '/account/password',
    button: 'Change the password',
    faults,
    inside: html`${currentPasswordField(faults)}${newPasswordFields(faults)}`,
  });
}

export async function takeNewPassword(context: Context): Promise<Outcome> {
  const { form, principal, now, address } = context;
  const faults = { ...passwordMissing(context), ...newPasswordFaults(form, principal.email) };
  if (Object.keys(faults).length > 0) return passwordPage(context, faults);
  try {
    const changed = await changePassword(context, asking(context), form.get('password')!);
    if ('refused' in changed) return passwordPage(context, refusalFaults(context, changed));
    const cookies = signedInCookies(context, changed, now);
    return { to: address('/account', { done: 'password' }), headers: { 'set-cookie': cookies } };
  } catch (error) {
    if (!(error instanceof OperationalError) || !error.details?.password) throw error;
    return passwordPage(context, { password: ofPassword(error.details.password) });
  }
}

export async function authenticatorPage(context: Context, faults = EMPTY): Promise<Shown> {
  const { form, principal } = context;
  return formPage(context, {
    title: 'Set up an authenticator app',
    path: '/account/authenticator',
    button: 'Use this app',
    faults,
    lead: html`<p>The app you had before stops counting.</p>`,
    inside: html`${totpFields(principal.email, secretOf(form, principal.email), faults)}${currentPasswordField(faults)}`,
  });
}

export async function takeAuthenticator(context: Context): Promise<Outcome> {
  const app = totpIn(context.form, context.now);
  const faults = { ...('faults' in app ? app.faults : {}), ...passwordMissing(context) };
  if ('faults' in app || Object.keys(faults).length > 0) return authenticatorPage(context, faults);
  const replaced = await replaceTotp(context, asking(context), app.totp);
  if ('refused' in replaced) return authenticatorPage(context, refusalFaults(context, replaced));
  const headers = knownAgain(context, replaced.administrator);
  return { to: context.address('/account', { done: 'totp' }), headers };
}

export function codesPage(context: Context, faults = EMPTY): Shown {
  return formPage(context, {
    title: 'New recovery codes',
    path: '/account/recovery-codes',
    button: 'Make new codes',
    faults,
    lead: html`<p>The codes you had before stop working.</p>`,
    inside: currentPasswordField(faults),
  });
}

export async function takeNewCodes(context: Context): Promise<Outcome> {
  const missing = passwordMissing(context);
  if (missing !== EMPTY) return codesPage(context, missing);
  const made = await renewRecoveryCodes(context, asking(context));
  if ('refused' in made) return codesPage(context, refusalFaults(context, made));
  return {
    title: 'Your recovery codes',
    place: '/account',
    headers: knownAgain(context, made.administrator),
    content: html`<h1>Your recovery codes</h1>
${recoveryCodes(made.codes, context.address('/account/recovery-codes/file'), context.token)}
<p><a class="primary" href="${context.address('/account')}">I have kept them: continue</a></p>`,
  };
}

/** Gives back as a file the codes that the page itself holds: they are kept nowhere that they could be read from again. */
export async function codesFile({ form }: Context): Promise<Outcome> {
  const codes = (form.get('codes') ?? '').split(' ');
  if (codes.length !== 10 || !codes.every((code) => RECOVERY_CODE.test(code)))
    throw new OperationalError('bad_request', 'These are no recovery codes.');
  const text = `Recovery codes for Counterfoil. Each works once.\r\n\r\n${codes.join('\r\n')}\r\n`;
  return {
    stream: Readable.from([text]),
    type: 'text/plain; charset=utf-8',
    name: 'counterfoil-recovery-codes.txt',
  };
}

export function sessionsPage(context: Context, faults = EMPTY): Shown {
  return formPage(context, {
    title: 'Sign out everywhere else',
    path: '/account/sessions',
    button: 'Sign out everywhere else',
    faults,
    lead: html`<p>You stay signed in in this browser.</p>`,
    inside: currentPasswordField(faults),
  });
}

export async function endOthers(context: Context): Promise<Outcome> {
  const missing = passwordMissing(context);
  if (missing !== EMPTY) return sessionsPage(context, missing);
  const ended = await signOutElsewhere(context, asking(context));
  if ('refused' in ended) return sessionsPage(context, refusalFaults(context, ended));
  return { to: context.address('/account', { done: 'sessions' }) };
}
