// The page of signing in: password and second factor in one form, which carries the draft of another form.
import { z } from 'zod';
import { type Html, hidden, html } from '../../lib/html.ts';
import { jsonOr } from '../../lib/text.ts';
import { authenticationOptions, passkeyPlace } from '../passkey.ts';
import { newChallenge } from '../sign-in.ts';
import { codeField, factorField, passkeyButton } from './factor-parts.ts';
import { type Faults, notice } from './parts.ts';
import type { Outcome, Shown, Visit } from './route.ts';
import { targetOf } from './visit.ts';

/** What goes along: where to afterwards, and a form that is to be shown there again. */
export interface CarriedDraft {
  next: string | undefined;
  /** Packed; see `packDraft`. */
  draft: string | undefined;
}

export function carriedIn(form: URLSearchParams): CarriedDraft {
  return { next: pageIn(form.get('next')), draft: form.get('draft') || undefined };
}

function carriedFields({ next, draft }: CarriedDraft): Html {
  return html`${next !== undefined && hidden({ next })}
${draft !== undefined && hidden({ draft })}`;
}

/**
 * Answers a request without a session, the same at every address whether or not there is a page. GET is redirected to the sign-in page. A
 * form is answered by that page with status 401, and with `sent`, the values that were typed.
 */
export function askToSignIn(visit: Visit, sent?: Draft): Outcome {
  const { request, address, say } = visit;
  const next = pageIn(targetOf(visit));
  if (request.method !== 'POST')
    return { to: address('/sign-in', { next: next === '/' ? undefined : next }) };
  const draft = next === undefined || !sent ? undefined : packDraft(sent);
  const why =
    draft === undefined
      ? say`You are no longer signed in, and nothing was done.`
      : say`You are no longer signed in, and nothing was done. What you typed is kept: sign in, look at it, and send it again.`;
  return signInPage(visit, { carried: { next, draft }, status: 401, told: why });
}

interface SignInParts {
  carried: CarriedDraft;
  email?: string;
  faults?: Faults;
  status?: number;
  told?: string | undefined;
}

export function signInPage(
  { ring, baseUrl, address, token, now, say }: Visit,
  { carried, email = '', faults = {}, status, told }: SignInParts,
): Shown {
  const { challenge, expires } = newChallenge(ring, now);
  const passkeys = passkeyPlace(baseUrl);
  const isWaiting = status === 429;
  return {
    title: say`Sign in`,
    faults,
    status,
    content: html`${told !== undefined && notice(html`<p>${told}</p>`, status === undefined ? 'status' : 'warn')}
<h1>${say`Sign in`}</h1>
<form method="post" action="${address('/sign-in')}#errors" novalidate>
${token}${carriedFields(carried)}${hidden({ expires: String(expires) })}
${factorField('email', 'email', say`Email address`, faults, { value: email })}
${factorField('password', 'password', say`Password`, faults)}
${codeField(say, say`Code from your authenticator app`, faults)}
<details class="aside"${(isWaiting || faults['recovery-code'] !== undefined) && html` open`}>
<summary>${say`Use a recovery code`}</summary>
${factorField('recovery code', 'recovery-code', say`Recovery code`, faults, {
  hint: say`One of the ten that you kept when you set up your account. It works once.`,
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
<p>${say.html`Ask the operator of this service. With ${RESET} and your email address they create a link for you to set up your account
again.`}</p>
</details>`,
  };
}

/** The command that a person's way back begins with. */
export const RESET = html`<code>counterfoil administrators reset</code>`;

/** A form that is to be shown on its page again. */
export interface Draft {
  /** The page's path in the route list: `/payments/:payment_id`. */
  page: string;
  params: Readonly<Record<string, string>>;
  form: URLSearchParams;
}

const packedDraft = z.object({
  page: z.string(),
  params: z.record(z.string(), z.string()),
  fields: z.array(z.tuple([z.string(), z.string()])),
});

/** Longer ones are let go; the longest that a form of ours takes is about half of it. */
const DRAFT_MAXIMUM = 24 * 1024;

/** Fields that are not part of a draft: credentials and form tokens. */
const SECRET = /password|code|credential|secret|token|ticket|link/;

const TARGET_MAXIMUM = 2048;
/** A path and a query as they are written; no `//`, no backslash, nothing that leads upwards. */
const TARGET = /^\/(?:[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*)?(?:\?[\w.~%&=+:@!*'(),;/-]*)?$/;
/** Pages that a sign-in does not lead back to: those of signing in and out. */
const DOORS = /^\/(?:sign-in|sign-out|set-up)\b/;

/** `text` if it is the path of a page of the console (below its address, perhaps with a query), to go to after signing in. */
function pageIn(text: string | null | undefined): string | undefined {
  if (!text || text.length > TARGET_MAXIMUM || !TARGET.test(text) || DOORS.test(text)) return undefined;
  return text;
}

/** The value of the hidden field that carries a draft; undefined if it is too long. */
function packDraft({ page, params, form }: Draft): string | undefined {
  const fields = [...form].filter(([name]) => !SECRET.test(name));
  const packed = Buffer.from(JSON.stringify({ page, params, fields })).toString('base64url');
  return packed.length <= DRAFT_MAXIMUM ? packed : undefined;
}

/** The draft in a hidden field's value; undefined if there is none in it. */
export function unpackDraft(packed: string): Draft | undefined {
  if (packed.length > DRAFT_MAXIMUM) return undefined;
  const { data } = packedDraft.safeParse(jsonOr(Buffer.from(packed, 'base64url').toString()));
  return data && { page: data.page, params: data.params, form: new URLSearchParams(data.fields) };
}

/** The path in an address of the route `path`; undefined if a parameter is missing. */
export function filledPath(path: string, params: Draft['params']): string | undefined {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  if (!names.every((name) => params[name])) return undefined;
  return path.replaceAll(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(params[name]!));
}
