// The pieces that set-up and account pages share: a new password, a new authenticator app, a new passkey, and recovery codes.

import type { KeyRing } from '../../journal/keys/key-ring.ts';
import { type Html, hidden, html } from '../../lib/html.ts';
import type { Say } from '../../lib/phrases.ts';
import { qrPath, qrSvg } from '../../lib/qr-code.ts';
import { asClause, jsonOr } from '../../lib/text.ts';
import type { Administrator } from '../administrator.ts';
import {
  type NewPasskey,
  type Passkey,
  passkeyPlace,
  registrationOptions,
  verifiedRegistration,
} from '../passkey.ts';
import { PASSWORD_MINIMUM, passwordFault } from '../password.ts';
import { acceptedStep, newTotp, totpUri } from '../totp.ts';
import { type Faults, field, literal } from './parts.ts';
import type { Visit } from './route.ts';

const SECRET = /^[A-Z2-7]{32}$/;
export const RECOVERY_CODE = /^[0-9a-z]{4}(?:-[0-9a-z]{4}){5}$/;

/** What is written in one direction and is no word. */
const LITERAL = {
  dir: 'ltr',
  translate: 'no',
  spellcheck: 'false',
  autocapitalize: 'none',
} as const;

/** How each thing that a person proves who they are with is typed. */
const TYPED = {
  email: { ...LITERAL, autocomplete: 'username', inputmode: 'email' },
  password: { type: 'password', autocomplete: 'current-password' },
  'new password': { type: 'password', autocomplete: 'new-password' },
  code: { ...LITERAL, autocomplete: 'one-time-code', inputmode: 'numeric', class: 'short' },
  'recovery code': LITERAL,
} as const;

/** The field of such a thing. It is typed again each time, but for the email address, which is its `value`. */
export const factorField = (
  kind: keyof typeof TYPED,
  name: string,
  label: string,
  faults: Faults,
  { hint, value = '' }: { hint?: string; value?: string } = {},
): Html => field({ name, label, hint, value, fault: faults[name], attributes: TYPED[kind] });

/** The field of the current password. */
export const currentPasswordField = (say: Say, faults: Faults): Html =>
  factorField('password', 'current-password', say`Your password`, faults, {
    hint: say`Your current password, to confirm that it is you.`,
  });

export function newPasswordFields(say: Say, faults: Faults): Html {
  const hint = say`At least ${PASSWORD_MINIMUM} characters. A few words that only you would put together are good.`;
  return html`${factorField('new password', 'password', say`New password`, faults, { hint })}
${factorField('new password', 'password-again', say`The same password again`, faults)}`;
}

export const codeField = (say: Say, label: string, faults: Faults): Html =>
  factorField('code', 'code', label, faults, { hint: say`Six digits, new every 30 seconds.` });

/** What is wrong with a new password, typed twice. */
export function newPasswordFaults(say: Say, form: URLSearchParams, email: string): Faults {
  const password = form.get('password') ?? '';
  if (password === '') return { password: say`Enter a new password` };
  const fault = passwordFault(password, email);
  if (fault) return { password: saidOfPassword(fault) };
  if (password !== form.get('password-again'))
    return { 'password-again': say`Enter the same password twice` };
  return {};
}

/** What the domain says of a password, as a field says it. */
export const saidOfPassword = (fault: string): string => `The password ${asClause(fault)}`;

/** A secret for an app as a QR code and as text, and the field of the first code, which shows that the app has it. */
export function totpFields(say: Say, email: string, secret: string, faults: Faults): Html {
  return html`${hidden({ secret })}
<figure>
${qrSvg(qrPath(totpUri(secret, email)), say`QR code for your authenticator app`)}
<figcaption>${say`Scan this with an authenticator app, or type this key into it:`}
<span class="key">${literal(secret.replaceAll(/.{4}(?!$)/g, '$& '))}</span></figcaption>
</figure>
${codeField(say, say`Code that the app shows now`, faults)}`;
}

/**
 * The secret that a form was shown with, so that the app that has scanned it need not scan another. `seed`: that of a set-up link, which
 * shows the same secret at each reading.
 */
export function secretOf(form: URLSearchParams | undefined, email: string, seed?: string): string {
  const secret = form?.get('secret') ?? '';
  return SECRET.test(secret) ? secret : newTotp(email, seed).secret;
}

/** The app that a form proves, or what is wrong with its code. `now` in milliseconds since 1970. */
export function totpIn(
  say: Say,
  form: URLSearchParams,
  now: number,
): { totp: { secret: string; step: number }; faults?: undefined } | { totp?: undefined; faults: Faults } {
  const secret = form.get('secret') ?? '';
  const code = form.get('code') ?? '';
  if (code.trim() === '') return { faults: { code: say`Enter the code that your authenticator app shows` } };
  const step = SECRET.test(secret) ? acceptedStep(secret, code, now, null) : undefined;
  return step === undefined
    ? { faults: { code: say`This is not the code that the app shows now. Enter the newest one` } }
    : { totp: { secret, step } };
}

/** The passkey that a browser made for a form; undefined if it made none that is right. */
export function passkeyIn(
  { form, ring, baseUrl }: Visit,
  administrator: Administrator,
): NewPasskey | undefined {
  const place = passkeyPlace(baseUrl);
  return place && verifiedRegistration(ring, place, administrator, jsonOr(form.get('credential') ?? ''));
}

/**
 * The button that asks the browser for a passkey: the script shows it, fills in the field beside it, and sends the form. `asked` is
 * what `navigator.credentials.create` or `get` takes.
 */
export function passkeyButton(
  say: Say,
  kind: 'create' | 'get',
  asked: object,
  label: string,
  without: Html,
): Html {
  return html`<div class="passkey" data-passkey="${kind}" data-options="${JSON.stringify(asked)}">
<input type="hidden" name="credential" value="">
<button type="button" class="secondary" hidden>${label}</button>
<p class="error" role="alert" hidden>${say`Your browser gave no passkey. Try again, or use another way.`}</p>
<noscript><p class="notice">${without}</p></noscript>
</div>`;
}

/** The button that makes a passkey; undefined where browsers make none at this address. */
export function newPasskeyButton(
  say: Say,
  ring: KeyRing,
  baseUrl: string,
  administrator: Administrator,
  existing: readonly Passkey[],
  label: string,
): Html | undefined {
  const place = passkeyPlace(baseUrl);
  if (!place) return undefined;
  const options = registrationOptions(ring, place, administrator, existing);
  return passkeyButton(
    say,
    'create',
    options,
    label,
    html`${say`A passkey needs JavaScript, which is off.`}`,
  );
}

/** Ten recovery codes, shown this once, and the form that gives them as a file. `action`: the address of that form. */
export function recoveryCodes(say: Say, codes: readonly string[], action: string, token: Html): Html {
  return html`<p>${say`Keep these ten codes where you keep things you must not lose: on paper, or in a password manager. Each lets you in
once when your second factor is gone. They are not shown again.`}</p>
<ol class="codes">${codes.map((code) => html`<li>${literal(code)}</li>`)}</ol>
<form method="post" action="${action}">${token}${hidden({ codes: codes.join(' ') })}
<button class="secondary">${say`Save them as a file`}</button></form>`;
}
