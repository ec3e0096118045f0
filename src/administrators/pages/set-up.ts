// Setting up an account by a link that works once: a password, a second factor, and recovery codes to keep.
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { note } from '../../web/request-log.ts';
import type { Administrator } from '../administrator.ts';
import { passkeyPlace } from '../passkey.ts';
import { hashPassword, weakness } from '../password.ts';
import { newRecoveryCodes } from '../recovery-codes.ts';
import { completeSetUp, findBySetUpLink, type SetUp } from '../set-up.ts';
import { cookieIn, tokenField } from './cookies.ts';
import {
  newPasskeyButton,
  newPasswordFaults,
  newPasswordFields,
  passkeyIn,
  recoveryCodes,
  saidOfPassword,
  secretOf,
  totpFields,
  totpIn,
} from './factor-parts.ts';
import { type Faults, hasFaults, literal } from './parts.ts';
import type { Shown, Visit } from './route.ts';
import { RESET } from './sign-in-page.ts';
import { signedInCookies } from './signed-in.ts';

const FIRST_PASSKEY = 'First passkey';

/**
 * The owner of a set-up link. The visit is a stranger's then, even if a session exists: the link belongs to another administrator. It
 * offers no theme, whose links would hold the set-up link once more.
 */
async function invited(visit: Visit, link: string): Promise<Administrator | undefined> {
  Object.assign(visit, { principal: undefined, here: undefined });
  return findBySetUpLink(visit.database, link, visit.now);
}

/** GET /set-up?link=…. */
export async function showSetUp(visit: Visit): Promise<Shown> {
  const link = visit.query.get('link') ?? '';
  const administrator = await invited(visit, link);
  return administrator ? setUpPage(visit, administrator, link) : usedLink(visit);
}

/** A form whose token is not right: the page again, if its link is good. */
export async function setUpForm(visit: Visit): Promise<Shown> {
  const { form, say } = visit;
  const link = form.get('link') ?? '';
  const administrator = await invited(visit, link);
  if (!administrator) return usedLink(visit);
  const faults = { password: say`This page was open for too long. Enter your new password again` };
  return { ...setUpPage(visit, administrator, link, faults), status: 403 };
}

/** POST /set-up. */
export async function takeSetUp(visit: Visit): Promise<Shown> {
  const { form, say, request, now, journal, baseUrl, ring, passwordCost } = visit;
  const link = form.get('link') ?? '';
  const administrator = await invited(visit, link);
  if (!administrator) return usedLink(visit);
  const wrong = (faults: Faults) => setUpPage(visit, administrator, link, faults);
  const chosen = factorIn(visit, administrator);
  const faults = {
    ...newPasswordFaults(say, form, administrator.email),
    ...chosen.faults,
  };
  if (chosen.faults || hasFaults(faults)) return wrong(faults);
  const turn = { known: true, key: administrator.id };
  const weak = await weakness(form.get('password')!, administrator);
  if (weak) return wrong({ password: saidOfPassword(weak) });
  const password = await hashPassword(form.get('password')!, turn, passwordCost);
  const { codes, digests } = newRecoveryCodes();
  const setUp = { password, factor: chosen.factor, recoveryDigests: digests, language: say.tag };
  const replaced = cookieIn(request.headers.cookie, 'session', baseUrl);
  try {
    const done = await journal.commit(
      (transaction) => completeSetUp(transaction, ring, link, setUp, request.id, replaced),
      administrator.id,
    );
    if (!done) return usedLink(visit);
    note(request, { sign_in: 'set_up', administrator: administrator.id });
    const token = tokenField({ kind: 'session', secret: done.secret });
    return { ...donePage(visit, codes, token), headers: { 'set-cookie': signedInCookies(visit, done, now) } };
  } catch (error) {
    if (error instanceof OperationalError && error.code === 'conflict')
      return wrong({ code: error.said(say) });
    throw error;
  }
}

/** The second factor that a form proves: a passkey where the browser made one, else an app. */
function factorIn(
  visit: Visit,
  administrator: Administrator,
): { factor: SetUp['factor']; faults?: undefined } | { factor?: undefined; faults: Faults } {
  const { say, form, baseUrl, now } = visit;
  if (!form.get('credential') || !passkeyPlace(baseUrl)) {
    const app = totpIn(say, form, now);
    return app.faults ? app : { factor: app };
  }
  const passkey = passkeyIn(visit, administrator);
  return passkey
    ? { factor: { passkey, name: FIRST_PASSKEY } }
    : { faults: { code: say`Your passkey could not be checked. Try again, or use an authenticator app` } };
}

function setUpPage(
  { address, token, form, ring, baseUrl, say }: Visit,
  administrator: Administrator,
  link: string,
  faults: Faults = {},
): Shown {
  const { email, name, role } = administrator;
  const passkey = newPasskeyButton(say, ring, baseUrl, administrator, [], say`Use a passkey instead`);
  const means = passkey
    ? say`Each time you sign in, you also use something that you have: an app on your phone that shows codes, or a passkey.`
    : say`Each time you sign in, you also use something that you have: an app on your phone that shows codes.`;
  return {
    title: say`Set up your account`,
    faults,
    content: html`<h1>${say`Set up your account`}</h1>
<p>${say.html`Welcome, ${html`<bdi>${name}</bdi>`}. You sign in as ${literal(email)}. Your role: ${say.of(role)}.`}</p>
<form method="post" action="${address('/set-up')}#errors" novalidate>
${token}<input type="hidden" name="link" value="${link}">
<input type="hidden" name="username" autocomplete="username" value="${email}">
<section class="part">
<h2>${say`1. A password`}</h2>
${newPasswordFields(say, faults)}
</section>
<section class="part">
<h2>${say`2. A second factor`}</h2>
<p>${means}</p>
${totpFields(say, email, secretOf(form, email, link), faults)}
${passkey}
</section>
<button class="primary">${say`Set up my account`}</button>
</form>`,
  };
}

function donePage({ address, path, say }: Visit, codes: readonly string[], token: Html): Shown {
  return {
    title: say`Your recovery codes`,
    content: html`<h1>${say`Your recovery codes`}</h1>
<p>${say`Your account is set up, and you are signed in.`}</p>
${recoveryCodes(say, codes, address('/account/recovery-codes/file'), token)}
<p><a class="primary" href="${path}">${say`I have kept them: continue`}</a></p>`,
  };
}

/** Wrong, used, too old: one page for all. */
function usedLink({ address, say }: Visit): Shown {
  return {
    title: say`This link does not work any more`,
    status: 404,
    content: html`<h1>${say`This link does not work any more`}</h1>
<p>${say.html`A link to set up an account works once, within 30 minutes. The operator of this service creates another with ${RESET}
and your email address.`}</p>
<p><a class="primary" href="${address('/sign-in')}">${say`Sign in`}</a></p>`,
  };
}
