// The pages of signing in: the password, then the second factor. The draft of a form is carried through both.
import type { FastifyReply } from 'fastify';
import { type Html, html } from '../../lib/html.ts';
import type { Say } from '../../lib/phrases.ts';
import type { Administrator } from '../administrator.ts';
import type { Passkey, Place as PasskeyPlace } from '../passkey.ts';
import { authenticationOptions, passkeyPlace } from '../passkey.ts';
import { type Draft, packDraft, targetOf } from './draft.ts';
import { tokenField } from './form-guard.ts';
import { type Faults, field, notice } from './parts.ts';
import type { Shown } from './route.ts';
import { addressOf, seeOther, show, type Visit } from './visit.ts';

/** What goes along: where to afterwards, and a form that is to be shown there again. */
export interface CarriedDraft {
  next: string | undefined;
  /** Packed; see `draft.ts`. */
  draft: string | undefined;
}

export function carriedIn(form: URLSearchParams): CarriedDraft {
  return { next: targetOf(form.get('next')), draft: form.get('draft') || undefined };
}

function carriedFields({ next, draft }: CarriedDraft): Html {
  return html`${next !== undefined && html`<input type="hidden" name="next" value="${next}">`}
${draft !== undefined && html`<input type="hidden" name="draft" value="${draft}">`}`;
}

/**
 * Answers a request without a session, the same at every address whether or not there is a page. GET is redirected to the sign-in page. A
 * form is answered by that page with status 401, and with `sent`, the values that were typed.
 */
export function askToSignIn(visit: Visit, sent?: Draft): FastifyReply | Promise<FastifyReply> {
  const { request, place, target } = visit;
  const next = targetOf(target);
  if (request.method !== 'POST')
    return seeOther(visit, addressOf(place.path, '/sign-in', { next: next === '/' ? undefined : next }));
  const draft = next === undefined || !sent ? undefined : packDraft(sent);
  const { say } = visit.tongue;
  const why =
    draft === undefined
      ? say`You are no longer signed in, and nothing was done.`
      : say`You are no longer signed in, and nothing was done. What you typed is kept: sign in, look at it, and send it again.`;
  return show(visit, signInPage(visit, { carried: { next, draft }, status: 401, told: why }));
}

export interface SignInParts {
  carried: CarriedDraft;
  email?: string;
  faults?: Faults;
  status?: number;
  told?: string | undefined;
  /** Where the second factor is taken by the same form: until when its passkey's challenge is accepted, and what asks for one. */
  whole?: { expires: number; options: object | undefined };
}

/** What asks a browser for any passkey that it has for this place; undefined where passkeys do not work. */
export function passkeyOptions(baseUrl: string, challenge: string): object | undefined {
  const passkeys = passkeyPlace(baseUrl);
  return passkeys && authenticationOptions(passkeys, [], challenge);
}

export function signInPage(
  { place, formKey, tongue: { say } }: Visit,
  { carried, email = '', faults = {}, status, told, whole }: SignInParts,
): Shown {
  return {
    title: say`Sign in`,
    faults,
    status,
    content: html`${told !== undefined && notice(html`<p>${told}</p>`, status === undefined ? 'status' : 'warn')}
<h1>${say`Sign in`}</h1>
<form method="post" action="${place.path}/sign-in#errors" novalidate>
${tokenField(formKey)}${carriedFields(carried)}
${field({
  name: 'email',
  label: say`Email address`,
  value: email,
  fault: faults.email,
  attributes: { ...LITERAL, autocomplete: 'username', inputmode: 'email' },
})}
${field({
  name: 'password',
  label: say`Password`,
  value: '',
  fault: faults.password,
  attributes: { type: 'password', autocomplete: 'current-password' },
})}
${whole && wholeFields(say, whole, faults)}
<button class="primary">${whole ? say`Sign in` : say`Continue`}</button>
</form>
<details class="aside"><summary>${say`Forgot your password?`}</summary>
<p>${say.html`Ask the operator of this service. With ${html`<code>counterfoil administrators reset</code>`} and your email address they create a link for you to set up your account again.`}</p>
</details>`,
  };
}

/** The fields of the second factor beside the password. */
function wholeFields(
  say: Say,
  { expires, options }: NonNullable<SignInParts['whole']>,
  faults: Faults,
): Html {
  const way = options
    ? say`You need not wait: enter your password with a recovery code, or with your passkey.`
    : say`You need not wait: enter your password with a recovery code.`;
  return html`<section class="part">
<h2>${say`Sign in without waiting`}</h2>
<p>${say`There were too many wrong passwords or codes for this email address.`} ${way}</p>
<input type="hidden" name="expires" value="${expires}">
${recoveryField(say, faults)}
${
  options &&
  passkeyButton(
    say,
    'get',
    options,
    say`Use your passkey`,
    html`${say`Your passkey needs JavaScript, which is off.`} ${say`Use a recovery code instead.`}`,
  )
}
</section>`;
}

function recoveryField(say: Say, faults: Faults): Html {
  return field({
    name: 'recovery-code',
    label: say`Recovery code`,
    hint: say`One of the ten that you kept when you set up your account. It works once.`,
    value: '',
    fault: faults['recovery-code'],
    attributes: LITERAL,
  });
}

/** What is written in one direction and is no word. */
export const LITERAL = {
  dir: 'ltr',
  translate: 'no',
  spellcheck: 'false',
  autocapitalize: 'none',
} as const;

interface FactorParts {
  carried: CarriedDraft;
  ticket: string;
  administrator: Administrator;
  passkeys: readonly Passkey[];
  challenge: string;
  /** Where passkeys work here. */
  passkeyPlace: PasskeyPlace | undefined;
  faults?: Faults;
}

export async function factorPage(
  { place, formKey, tongue: { say } }: Visit,
  parts: FactorParts,
): Promise<Shown> {
  const { carried, ticket, administrator, passkeys, challenge, passkeyPlace, faults = {} } = parts;
  const options =
    passkeyPlace && passkeys.length > 0
      ? authenticationOptions(passkeyPlace, passkeys, challenge)
      : undefined;
  const hasApp = administrator.totp_secret !== null;
  return {
    title: say`Prove it is you`,
    faults,
    content: html`<h1>${say`Prove it is you`}</h1>
<form method="post" action="${place.path}/sign-in/factor#errors" novalidate>
${tokenField(formKey)}${carriedFields(carried)}<input type="hidden" name="ticket" value="${ticket}">
${
  options &&
  passkeyButton(
    say,
    'get',
    options,
    say`Use your passkey`,
    html`${say`Your passkey needs JavaScript, which is off.`}
${hasApp ? say`Use a code instead.` : say`Use a recovery code, or switch JavaScript on.`}`,
  )
}
${
  hasApp &&
  field({
    name: 'code',
    label: say`Code from your authenticator app`,
    hint: say`Six digits, new every 30 seconds.`,
    value: '',
    fault: faults.code,
    attributes: { ...LITERAL, autocomplete: 'one-time-code', inputmode: 'numeric', class: 'short' },
  })
}
<details class="aside"${(faults['recovery-code'] !== undefined || !(hasApp || options)) && html` open`}>
<summary>${say`Use a recovery code`}</summary>
${recoveryField(say, faults)}
</details>
<button class="primary">${say`Continue`}</button>
</form>
<p><a class="plain" href="${addressOf(place.path, '/sign-in', { next: carried.next })}">${say`Sign in as somebody else`}</a></p>`,
  };
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
