// The page of signing in: password and second factor in one form. The draft of another form is carried through it.
import type { FastifyReply } from 'fastify';
import { type Html, html } from '../../lib/html.ts';
import type { Say } from '../../lib/phrases.ts';
import { authenticationOptions, passkeyPlace } from '../passkey.ts';
import { newChallenge } from '../sign-in.ts';
import { tokenField } from './cookies.ts';
import { type Draft, packDraft, targetOf } from './draft.ts';
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

interface SignInParts {
  carried: CarriedDraft;
  email?: string;
  faults?: Faults;
  status?: number;
  told?: string | undefined;
}

export function signInPage(
  { place, formKey, now, tongue: { say } }: Visit,
  { carried, email = '', faults = {}, status, told }: SignInParts,
): Shown {
  const { challenge, expires } = newChallenge(place.ring, now);
  const passkeys = passkeyPlace(place.baseUrl);
  const isWaiting = status === 429;
  return {
    title: say`Sign in`,
    faults,
    status,
    content: html`${told !== undefined && notice(html`<p>${told}</p>`, status === undefined ? 'status' : 'warn')}
<h1>${say`Sign in`}</h1>
<form method="post" action="${place.path}/sign-in#errors" novalidate>
${tokenField(formKey)}${carriedFields(carried)}<input type="hidden" name="expires" value="${expires}">
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
${field({
  name: 'code',
  label: say`Code from your authenticator app`,
  hint: say`Six digits, new every 30 seconds.`,
  value: '',
  fault: faults.code,
  attributes: { ...LITERAL, autocomplete: 'one-time-code', inputmode: 'numeric', class: 'short' },
})}
<details class="aside"${(isWaiting || faults['recovery-code'] !== undefined) && html` open`}>
<summary>${say`Use a recovery code`}</summary>
${field({
  name: 'recovery-code',
  label: say`Recovery code`,
  hint: say`One of the ten that you kept when you set up your account. It works once.`,
  value: '',
  fault: faults['recovery-code'],
  attributes: LITERAL,
})}
</details>
<button class="primary">${say`Sign in`}</button>
${
  passkeys &&
  passkeyButton(
    say,
    'get',
    authenticationOptions(passkeys, challenge),
    say`Sign in with your passkey`,
    html`${say`Your passkey needs JavaScript, which is off.`} ${say`Use a code instead.`}`,
  )
}
</form>
<details class="aside"><summary>${say`Forgot your password?`}</summary>
<p>${say.html`Ask the operator of this service. With ${html`<code>counterfoil administrators reset</code>`} and your email address they create a link for you to set up your account again.`}</p>
</details>`,
  };
}

/** What is written in one direction and is no word. */
export const LITERAL = {
  dir: 'ltr',
  translate: 'no',
  spellcheck: 'false',
  autocapitalize: 'none',
} as const;

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
