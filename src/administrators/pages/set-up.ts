// Setting up an account by a link that works once: a password, a second factor, and recovery codes to keep.
import type { FastifyReply } from 'fastify';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Say } from '../../lib/phrases.ts';
import { note } from '../../web/request-log.ts';
import type { Administrator } from '../administrator.ts';
import { passkeyPlace, verifiedRegistration } from '../passkey.ts';
import { hashPassword, weakness } from '../password.ts';
import { newRecoveryCodes } from '../recovery-codes.ts';
import { completeSetUp, findBySetUpLink, type SetUp } from '../set-up.ts';
import { readCookieOf, tokenField } from './cookies.ts';
import {
  newPasskeyButton,
  newPasswordFaults,
  newPasswordFields,
  ofPassword,
  recoveryCodes,
  secretOf,
  totpFields,
  totpIn,
} from './factor-parts.ts';
import { type Faults, literal } from './parts.ts';
import type { Shown } from './route.ts';
import { parsed } from './sign-in.ts';
import { signedInCookies } from './signed-in.ts';
import { type ConsolePlace, show, type Visit } from './visit.ts';

const FIRST_PASSKEY = 'First passkey';

/** GET /set-up?link=…. */
export async function showSetUp(visit: Visit): Promise<FastifyReply> {
  const link = visit.query.get('link') ?? '';
  const administrator = await findBySetUpLink(visit.place.database, link, visit.now);
  return show(nobody(visit), administrator ? await setUpPage(visit, administrator, link) : usedLink(visit));
}

/**
 * A frame without an account, even if a session exists: the link belongs to another administrator then. Without the choice of the theme,
 * whose links would hold the set-up link once more.
 */
function nobody(visit: Visit): Visit {
  return { ...visit, principal: undefined, here: undefined };
}

/** A form whose token is not right: the page again, if its link is good. */
export async function setUpForm(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const link = form.get('link') ?? '';
  const administrator = await findBySetUpLink(visit.place.database, link, visit.now);
  if (!administrator) return show(nobody(visit), usedLink(visit));
  const faults = {
    password: visit.tongue.say`This page was open for too long. Enter your new password again`,
  };
  return show(nobody(visit), { ...(await setUpPage(visit, administrator, link, faults, form)), status: 403 });
}

/** POST /set-up. */
export async function takeSetUp(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const { place, request, reply, now } = visit;
  const { database, journal, baseUrl, ring } = place;
  const link = form.get('link') ?? '';
  const administrator = await findBySetUpLink(database, link, now);
  if (!administrator) return show(nobody(visit), usedLink(visit));
  const wrong = async (faults: Faults) =>
    show(nobody(visit), await setUpPage(visit, administrator, link, faults, form));
  const { say } = visit.tongue;
  const chosen = await factorIn(say, form, administrator, place, now);
  const faults = {
    ...newPasswordFaults(say, form, administrator.email),
    ...('faults' in chosen ? chosen.faults : {}),
  };
  if ('faults' in chosen || Object.keys(faults).length > 0) return wrong(faults);
  const turn = { known: true, key: administrator.id };
  const weak = await weakness(form.get('password')!, administrator);
  if (weak) return wrong({ password: ofPassword(weak) });
  const password = await hashPassword(form.get('password')!, turn, place.passwordCost);
  const { codes, digests } = newRecoveryCodes();
  const setUp = { password, factor: chosen.factor, recoveryDigests: digests, language: say.tag };
  const replaced = readCookieOf(request.headers.cookie, 'session', baseUrl);
  try {
    const done = await journal.commit(
      (transaction) => completeSetUp(transaction, ring, link, setUp, request.id, replaced),
      administrator.id,
    );
    if (!done) return show(nobody(visit), usedLink(visit));
    note(request, { sign_in: 'set_up', administrator: administrator.id });
    reply.header('set-cookie', signedInCookies(place, done, now));
    const token = tokenField({ kind: 'session', secret: done.secret });
    return show(nobody(visit), donePage(visit, codes, token));
  } catch (error) {
    if (error instanceof OperationalError && error.code === 'conflict')
      return wrong({ code: error.said(say) });
    throw error;
  }
}

/** The second factor that a form proves: a passkey where the browser made one, else an app. */
async function factorIn(
  say: Say,
  form: URLSearchParams,
  administrator: Administrator,
  { baseUrl, ring }: ConsolePlace,
  now: number,
): Promise<{ factor: SetUp['factor'] } | { faults: Faults }> {
  const credential = form.get('credential') ?? '';
  const place = passkeyPlace(baseUrl);
  if (credential === '' || !place) {
    const app = totpIn(say, form, now);
    return 'faults' in app ? app : { factor: app };
  }
  const passkey = verifiedRegistration(ring, place, administrator, parsed(credential));
  return passkey
    ? { factor: { passkey, name: FIRST_PASSKEY } }
    : { faults: { code: say`Your passkey could not be checked. Try again, or use an authenticator app` } };
}

async function setUpPage(
  { place, formKey, tongue: { say } }: Visit,
  administrator: Administrator,
  link: string,
  faults: Faults = {},
  form?: URLSearchParams,
): Promise<Shown> {
  const { email, name, role } = administrator;
  const passkey = newPasskeyButton(
    say,
    place.ring,
    place.baseUrl,
    administrator,
    [],
    say`Use a passkey instead`,
  );
  return {
    title: say`Set up your account`,
    faults,
    content: html`<h1>${say`Set up your account`}</h1>
<p>${say.html`Welcome, ${html`<bdi>${name}</bdi>`}. You sign in as ${literal(email)}. Your role: ${say.of(role)}.`}</p>
<form method="post" action="${place.path}/set-up#errors" novalidate>
${tokenField(formKey)}<input type="hidden" name="link" value="${link}">
<input type="hidden" name="username" autocomplete="username" value="${email}">
<section class="part">
<h2>${say`1. A password`}</h2>
${newPasswordFields(say, faults)}
</section>
<section class="part">
<h2>${say`2. A second factor`}</h2>
<p>${
      passkey
        ? say`Each time you sign in, you also use something that you have: an app on your phone that shows codes, or a passkey.`
        : say`Each time you sign in, you also use something that you have: an app on your phone that shows codes.`
    }</p>
${totpFields(say, email, secretOf(form, email, link), faults)}
${passkey}
</section>
<button class="primary">${say`Set up my account`}</button>
</form>`,
  };
}

function donePage({ place, tongue: { say } }: Visit, codes: readonly string[], token: Html): Shown {
  return {
    title: say`Your recovery codes`,
    content: html`<h1>${say`Your recovery codes`}</h1>
<p>${say`Your account is set up, and you are signed in.`}</p>
${recoveryCodes(say, codes, `${place.path}/account/recovery-codes/file`, token)}
<p><a class="primary" href="${place.path}">${say`I have kept them: continue`}</a></p>`,
  };
}

/** Wrong, used, too old: one page for all. */
function usedLink({ place, tongue: { say } }: Visit): Shown {
  return {
    title: say`This link does not work any more`,
    status: 404,
    content: html`<h1>${say`This link does not work any more`}</h1>
<p>${say.html`A link to set up an account works once, within 30 minutes. The operator of this service creates another with ${html`<code>counterfoil administrators reset</code>`} and your email address.`}</p>
<p><a class="primary" href="${place.path}/sign-in">${say`Sign in`}</a></p>`,
  };
}
