// The signed-in administrator's own account: their name and role, their factors and passkeys, and their sessions.
import { Readable } from 'node:stream';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import {
  addPasskey,
  changePassword,
  removePasskey,
  renewRecoveryCodes,
  replaceTotp,
  signOutElsewhere,
} from '../account.ts';
import { failuresSince } from '../failures.ts';
import { type Passkey, passkeyPlace, verifiedRegistration } from '../passkey.ts';
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
  newPasskeyButton,
  newPasswordFaults,
  newPasswordFields,
  ofPassword,
  RECOVERY_CODE,
  recoveryCodes,
  secretOf,
  totpFields,
  totpIn,
} from './factor-parts.ts';
import { field, literal, moment, notice, rows, said } from './parts.ts';
import type { Context, Outcome, Shown } from './route.ts';
import { parsed } from './sign-in.ts';
import { signedInCookies } from './signed-in.ts';

async function failedAttempts(context: Context): Promise<Html> {
  const { database, principal, say } = context;
  const since = (await sessionBefore(database, principal.id, principal.session!)) ?? 0;
  const { count, withPassword, last } = await failuresSince(context, principal.email, since);
  if (last === undefined) return html`${say`None since you last signed in`}`;
  return html`${say.html`${count} since you last signed in, the newest ${moment(context, last)}`}${
    withPassword > 0 &&
    html`.
<strong>${say`${withPassword} of them with your password`}</strong>: ${say`if that was not you, change it`}`
  }`;
}

export async function accountPage(context: Context): Promise<Shown> {
  const { address, keys, principal, database, now, say } = context;
  const { row, passkeys } = await own(context);
  const sessions = await openSessionsOf(database, principal.id, now);
  const done = doneIn(context);
  const change = (path: string, text: string) => html`<a class="plain" href="${address(path)}">${text}</a>`;
  const left = codesLeft(row.recovery_codes);
  const here = (id: string) => id === principal.session && html` <strong>(${say`this browser`})</strong>`;
  return {
    title: say`Your account`,
    place: '/account',
    content: html`${done !== undefined && notice(html`<p>${done}</p>`)}
<h1>${say`Your account`}</h1>
${rows([
  [say`Name`, said(row.name)],
  [say`Email address`, literal(row.email)],
  [say`Role`, say.of(row.role)],
])}
<section class="part">
<h2>${say`How you sign in`}</h2>
${rows([
  [say`Password`, change('/account/password', say`Change the password`)],
  [
    say`Authenticator app`,
    html`${row.totp_secret === null ? say`None` : say`Set up`} ·
${change('/account/authenticator', row.totp_secret === null ? say`Add an app` : say`Use another app`)}`,
  ],
  [say`Passkeys`, html`${passkeys.length} · ${change('/account/passkeys', say`Add or remove passkeys`)}`],
  [
    say`Recovery codes`,
    html`${say`${left} left`} · ${change('/account/recovery-codes', say`Create new ones`)}`,
  ],
  [say`Failed attempts`, await failedAttempts(context)],
])}
</section>
<section class="part">
<h2>${say`Where you are signed in`}</h2>
<ul class="list">${sessions.map(
      (one) =>
        html`<li>${say.html`Since ${moment(context, one.created_at)},
until ${moment(context, one.expires_at)} at the latest`}${here(one.id)}</li>`,
    )}</ul>
<p class="hint">${say`At most ${SESSIONS_MAXIMUM} at a time: signing in once more signs you out where you signed in first.`}</p>
${sessions.length > 1 && html`<p>${change('/account/sessions', say`Sign out everywhere else`)}</p>`}
</section>
<section class="part">
<h2>${say`Emails`}</h2>
<p>${change('/account/letters', say`Choose which emails you get`)}</p>
</section>
<section class="part">
<h2>${say`Keyboard shortcuts`}</h2>
<p>${say.html`Single letters are shortcuts in the console: ${html`<kbd>?</kbd>`} lists them.`}
<strong>${keys ? say`They are on in this browser.` : say`They are off in this browser.`}</strong></p>
<p><a class="plain" href="${address('/account', { keys: keys ? 'off' : 'on' })}">${
      keys ? say`Switch them off` : say`Switch them on`
    }</a></p>
</section>`,
  };
}

export function passwordPage(context: Context, faults = EMPTY): Shown {
  const { say } = context;
  return formPage(context, {
    title: say`Change your password`,
    path: '/account/password',
    button: say`Change the password`,
    faults,
    inside: html`${currentPasswordField(context.say, faults)}${newPasswordFields(context.say, faults)}`,
  });
}

export async function takeNewPassword(context: Context): Promise<Outcome> {
  const { form, principal, now, address } = context;
  const faults = { ...passwordMissing(context), ...newPasswordFaults(context.say, form, principal.email) };
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
  const { form, principal, say } = context;
  return formPage(context, {
    title: say`Set up an authenticator app`,
    path: '/account/authenticator',
    button: say`Use this app`,
    faults,
    lead: html`<p>${say`The app you had before no longer works.`}</p>`,
    inside: html`${totpFields(context.say, principal.email, secretOf(form, principal.email), faults)}
${currentPasswordField(context.say, faults)}`,
  });
}

export async function takeAuthenticator(context: Context): Promise<Outcome> {
  const app = totpIn(context.say, context.form, context.now);
  const faults = { ...('faults' in app ? app.faults : {}), ...passwordMissing(context) };
  if ('faults' in app || Object.keys(faults).length > 0) return authenticatorPage(context, faults);
  const replaced = await replaceTotp(context, asking(context), app.totp);
  if ('refused' in replaced) return authenticatorPage(context, refusalFaults(context, replaced));
  const headers = knownAgain(context, replaced.administrator);
  return { to: context.address('/account', { done: 'totp' }), headers };
}

export function codesPage(context: Context, faults = EMPTY): Shown {
  const { say } = context;
  return formPage(context, {
    title: say`New recovery codes`,
    path: '/account/recovery-codes',
    button: say`Create new codes`,
    faults,
    lead: html`<p>${say`The codes you had before stop working.`}</p>`,
    inside: currentPasswordField(context.say, faults),
  });
}

export async function takeNewCodes(context: Context): Promise<Outcome> {
  const { say } = context;
  const missing = passwordMissing(context);
  if (missing !== EMPTY) return codesPage(context, missing);
  const made = await renewRecoveryCodes(context, asking(context));
  if ('refused' in made) return codesPage(context, refusalFaults(context, made));
  return {
    title: say`Your recovery codes`,
    place: '/account',
    headers: knownAgain(context, made.administrator),
    content: html`<h1>${say`Your recovery codes`}</h1>
${recoveryCodes(context.say, made.codes, context.address('/account/recovery-codes/file'), context.token)}
<p><a class="primary" href="${context.address('/account')}">${say`I have kept them: continue`}</a></p>`,
  };
}

/** Gives back as a file the codes that the page itself holds: they are kept nowhere that they could be read from again. */
export async function codesFile({ form }: Context): Promise<Outcome> {
  const codes = (form.get('codes') ?? '').split(' ');
  if (codes.length !== 10 || !codes.every((code) => RECOVERY_CODE.test(code)))
    throw new OperationalError('bad_request', phrase('These are not recovery codes.'));
  const text = `Recovery codes for Counterfoil. Each works once.\r\n\r\n${codes.join('\r\n')}\r\n`;
  return {
    stream: Readable.from([text]),
    type: 'text/plain; charset=utf-8',
    name: 'counterfoil-recovery-codes.txt',
  };
}

export function sessionsPage(context: Context, faults = EMPTY): Shown {
  const { say } = context;
  return formPage(context, {
    title: say`Sign out everywhere else`,
    path: '/account/sessions',
    button: say`Sign out everywhere else`,
    faults,
    lead: html`<p>${say`You stay signed in in this browser.`}</p>`,
    inside: currentPasswordField(context.say, faults),
  });
}

export async function endOthers(context: Context): Promise<Outcome> {
  const missing = passwordMissing(context);
  if (missing !== EMPTY) return sessionsPage(context, missing);
  const ended = await signOutElsewhere(context, asking(context));
  if ('refused' in ended) return sessionsPage(context, refusalFaults(context, ended));
  return { to: context.address('/account', { done: 'sessions' }) };
}

export async function passkeysPage(context: Context, faults = EMPTY): Promise<Shown> {
  const { baseUrl, address, token, form, ring, say } = context;
  const { row, passkeys } = await own(context);
  const button = newPasskeyButton(context.say, ring, baseUrl, row, passkeys, say`Add a passkey`);
  const done = doneIn(context);
  const one = (
    passkey: Passkey,
  ) => html`<li>${say.html`${said(passkey.name)}, added ${moment(context, passkey.created_at)}`}${
    passkey.used_at !== null && html`, ${say.html`last used ${moment(context, passkey.used_at)}`}`
  }
· <a class="plain" href="${address('/account/passkeys/remove', { passkey: passkey.id })}"
aria-label="${say`Remove ${passkey.name}`}">${say`Remove`}</a></li>`;
  return {
    title: say`Your passkeys`,
    place: '/account',
    faults,
    content: html`${done !== undefined && notice(html`<p>${done}</p>`)}
<p><a class="plain" href="${address('/account')}">${say`Your account`}</a></p>
<h1>${say`Your passkeys`}</h1>
${passkeys.length > 0 ? html`<ul class="list">${passkeys.map(one)}</ul>` : html`<p>${say`You have no passkeys yet.`}</p>`}
<section class="part">
<h2>${say`Add a passkey`}</h2>
${
  button
    ? html`<form class="narrow" method="post" action="${address('/account/passkeys')}#errors" novalidate>
${token}
${field({
  name: 'name',
  label: say`Name of the passkey`,
  hint: say`For example the device it is on.`,
  value: form.get('name') ?? '',
  fault: faults.name,
  attributes: { maxlength: '60' },
})}
${currentPasswordField(context.say, faults)}
${button}
</form>`
    : html`<p>${say`Browsers create passkeys only where this service is reached by HTTPS under a name.`}</p>`
}
</section>`,
  };
}

export async function takePasskey(context: Context): Promise<Outcome> {
  const { form, baseUrl, address, ring } = context;
  const place = passkeyPlace(baseUrl);
  const name = form.get('name') ?? '';
  const faults = {
    ...(name.trim() === '' ? { name: context.say`Enter a name for the passkey` } : {}),
    ...passwordMissing(context),
  };
  if (Object.keys(faults).length > 0) return passkeysPage(context, faults);
  const { row } = await own(context);
  const credential = parsed(form.get('credential') ?? '');
  const passkey = place && verifiedRegistration(ring, place, row, credential);
  if (!passkey)
    return passkeysPage(context, { name: context.say`The passkey could not be checked. Add it again` });
  try {
    const added = await addPasskey(context, asking(context), passkey, name);
    if ('refused' in added) return passkeysPage(context, refusalFaults(context, added));
    const headers = knownAgain(context, added.administrator);
    return { to: address('/account/passkeys', { done: 'passkey' }), headers };
  } catch (error) {
    if (error instanceof OperationalError && error.details)
      return passkeysPage(context, {
        name: `${context.say`Name of the passkey`}: ${error.details.name ?? error.said(context.say)}`,
      });
    throw error;
  }
}

export async function removalPage(context: Context, faults = EMPTY): Promise<Shown> {
  const { say } = context;
  const id = context.form.get('passkey') ?? context.query.get('passkey');
  const { passkeys } = await own(context);
  const passkey = passkeys.find((one) => one.id === id);
  if (!passkey) throw new OperationalError('not_found', 'There is no such passkey.');
  return formPage(context, {
    title: say`Remove a passkey`,
    path: '/account/passkeys/remove',
    button: say`Remove it`,
    faults,
    lead: html`<p>${context.say.html`Once “${said(passkey.name)}” is removed, you can no longer sign in with it.`}</p>`,
    inside: html`<input type="hidden" name="passkey" value="${passkey.id}">${currentPasswordField(context.say, faults)}`,
  });
}

export async function takeRemoval(context: Context): Promise<Outcome> {
  const missing = passwordMissing(context);
  if (missing !== EMPTY) return removalPage(context, missing);
  const removed = await removePasskey(context, asking(context), context.form.get('passkey') ?? '');
  if ('refused' in removed) return removalPage(context, refusalFaults(context, removed));
  const headers = knownAgain(context, removed.administrator);
  return { to: context.address('/account/passkeys', { done: 'removed' }), headers };
}
