// The forms of one's own account. Each asks for the password once more, and shows what it came to.
import { OperationalError } from '../../lib/errors.ts';
import { type Html, hidden, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import {
  addPasskey,
  changePassword,
  removePasskey,
  renewRecoveryCodes,
  replaceTotp,
  signOutElsewhere,
} from '../account.ts';
import type { Administrator } from '../administrator.ts';
import type { PasswordRefusal } from '../failures.ts';
import type { Passkey } from '../passkey.ts';
import { findAdministrator, passkeysOf } from '../queries.ts';
import {
  currentPasswordField,
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
import { type Faults, field, hasFaults, moment, notice, said } from './parts.ts';
import { type Context, form, type Outcome, page, type Route, type Shown } from './route.ts';
import { timeOfDay } from './sign-in.ts';
import { deviceCookie, signedInCookies } from './signed-in.ts';

/** The account as it is. Their row is there: they are signed in. */
export async function own({
  database,
  principal,
}: Context): Promise<{ row: Administrator; passkeys: Passkey[] }> {
  const row = await findAdministrator(database, principal.id);
  if (!row) throw new OperationalError('not_found', 'There is no such administrator.');
  return { row, passkeys: await passkeysOf(database, principal.id) };
}

/** What was done, by the word in the address that leads back. */
const DONE = {
  password: phrase('Your password is changed. You are signed out everywhere else.'),
  passkey: phrase('The passkey is added.'),
  removed: phrase('The passkey is removed. You are signed out everywhere else.'),
  totp: phrase('You use the new authenticator app from now on. You are signed out everywhere else.'),
  sessions: phrase('You are signed out everywhere else.'),
} as const;

/** Says what was done; undefined where the address says nothing of it. */
export function accountNotice({ query, say }: Context): Html | undefined {
  const word = query.get('done') ?? '';
  return Object.hasOwn(DONE, word)
    ? notice(html`<p>${say.of(DONE[word as keyof typeof DONE])}</p>`)
    : undefined;
}

/** What a change left: the row, of which this browser is known from now on, a new session, or new recovery codes. */
interface Changed {
  administrator?: Administrator;
  secret?: string;
  codes?: readonly string[];
  /** How many sessions it ended. */
  ended?: number;
}

/** A form that asks for the present password beside what else it asks. */
interface AccountForm {
  path: string;
  title: string;
  button: string;
  /** What stands above the form, in it, and behind the present password. */
  asks?(context: Context, faults: Faults): Asks | Promise<Asks>;
  /** The whole page, where it is more than a form. */
  page?(context: Context, faults: Faults): Promise<Shown>;
  /** What is wrong with what was typed, but for the present password. */
  faults?(context: Context): Faults;
  change(context: Context, asking: Asking): Promise<Changed | PasswordRefusal | { faults: Faults }>;
  done?: keyof typeof DONE;
  /** Where it leads. */
  back: string;
}

interface Asks {
  lead?: Html;
  inside?: Html;
  behind?: Html;
}

interface Asking {
  principal: Context['principal'];
  password: string;
}

const FORMS: readonly AccountForm[] = [
  {
    path: '/account/password',
    title: phrase('Change your password'),
    button: phrase('Change the password'),
    asks: ({ say }, faults) => ({ behind: newPasswordFields(say, faults) }),
    faults: ({ say, form, principal }) => newPasswordFaults(say, form, principal.email),
    change: (context, asking) => changePassword(context, asking, context.form.get('password')!),
    done: 'password',
    back: '/account',
  },
  {
    path: '/account/authenticator',
    title: phrase('Set up an authenticator app'),
    button: phrase('Use this app'),
    asks: ({ form, principal: { email }, say }, faults) => ({
      lead: html`<p>${say`The app you had before no longer works.`}</p>`,
      inside: html`${totpFields(say, email, secretOf(form, email), faults)}\n`,
    }),
    faults: ({ say, form, now }) => totpIn(say, form, now).faults ?? {},
    change: (context, asking) =>
      replaceTotp(context, asking, totpIn(context.say, context.form, context.now).totp!),
    done: 'totp',
    back: '/account',
  },
  {
    path: '/account/recovery-codes',
    title: phrase('New recovery codes'),
    button: phrase('Create new codes'),
    asks: ({ say }) => ({ lead: html`<p>${say`The codes you had before stop working.`}</p>` }),
    change: renewRecoveryCodes,
    back: '/account',
  },
  {
    path: '/account/passkeys',
    title: phrase('Your passkeys'),
    button: phrase('Add a passkey'),
    page: passkeysPage,
    faults: ({ say, form }): Faults =>
      (form.get('name') ?? '').trim() === '' ? { name: say`Enter a name for the passkey` } : {},
    async change(context, asking) {
      const { row } = await own(context);
      const passkey = passkeyIn(context, row);
      return passkey
        ? addPasskey(context, asking, passkey, context.form.get('name')!)
        : { faults: { name: context.say`The passkey could not be checked. Add it again` } };
    },
    done: 'passkey',
    back: '/account/passkeys',
  },
  {
    path: '/account/passkeys/remove',
    title: phrase('Remove a passkey'),
    button: phrase('Remove it'),
    async asks(context) {
      const { form, query, say } = context;
      const id = form.get('passkey') ?? query.get('passkey');
      const { passkeys } = await own(context);
      const passkey = passkeys.find((one) => one.id === id);
      if (!passkey) throw new OperationalError('not_found', 'There is no such passkey.');
      const name = said(passkey.name);
      return {
        lead: html`<p>${say.html`Once “${name}” is removed, you can no longer sign in with it.`}</p>`,
        inside: hidden({ passkey: passkey.id }),
      };
    },
    change: (context, asking) => removePasskey(context, asking, context.form.get('passkey') ?? ''),
    done: 'removed',
    back: '/account/passkeys',
  },
  {
    path: '/account/sessions',
    title: phrase('Sign out everywhere else'),
    button: phrase('Sign out everywhere else'),
    asks: ({ say }) => ({ lead: html`<p>${say`You stay signed in in this browser.`}</p>` }),
    change: signOutElsewhere,
    done: 'sessions',
    back: '/account',
  },
];

export const accountForms: readonly Route[] = FORMS.flatMap((one) => [
  page(one.path, 'read', (context: Context) => show(context, one, {})),
  form(one.path, 'read', (context: Context) => take(context, one)),
]);

async function show(context: Context, one: AccountForm, faults: Faults): Promise<Shown> {
  if (one.page) return one.page(context, faults);
  const { address, say, token } = context;
  const { lead, inside, behind } = (await one.asks?.(context, faults)) ?? {};
  const title = say.of(one.title);
  return {
    title,
    place: '/account',
    faults,
    content: html`<p><a class="plain" href="${address('/account')}">${say`Your account`}</a></p>
<h1>${title}</h1>
${lead}
<form class="narrow" method="post" action="${address(one.path)}#errors" novalidate>
${token}
${inside}${currentPasswordField(say, faults)}${behind}
<button class="primary">${say.of(one.button)}</button>
</form>`,
  };
}

async function take(context: Context, one: AccountForm): Promise<Outcome> {
  const { form, principal, say, address } = context;
  const password = form.get('current-password') ?? '';
  const missing = password === '' ? { 'current-password': say`Enter your current password` } : {};
  const typed = one.faults?.(context) ?? {};
  const faults: Faults = one.done === 'password' ? { ...missing, ...typed } : { ...typed, ...missing };
  if (hasFaults(faults)) return show(context, one, faults);
  try {
    const done = await one.change(context, { principal, password });
    if ('refused' in done) return show(context, one, { 'current-password': refusalSaid(context, done) });
    if ('faults' in done) return show(context, one, done.faults);
    const headers = cookiesAfter(context, done);
    if (done.codes) return codesPage(context, done.codes, headers);
    return { to: address(one.back, { done: one.done }), headers };
  } catch (error) {
    if (!(error instanceof OperationalError && error.details)) throw error;
    const { password: fault, name } = error.details;
    const told = `${say`Name of the passkey`}: ${name ?? error.said(say)}`;
    return show(context, one, fault ? { password: saidOfPassword(fault) } : { name: told });
  }
}

const refusalSaid = ({ timeZone, say }: Context, refusal: PasswordRefusal): string =>
  refusal.refused === 'wrong'
    ? say`This is not your password`
    : say`Too many attempts. Try again at ${timeOfDay(timeZone, refusal.until)}`;

/** Keeps this browser signed in and a known one, after a change that ended its session or made all device cookies void. */
function cookiesAfter(
  context: Context,
  { administrator, secret }: Changed,
): Record<string, string | string[]> {
  if (!administrator) return {};
  if (secret === undefined) return { 'set-cookie': deviceCookie(context, administrator, context.now) };
  return { 'set-cookie': signedInCookies(context, { secret, administrator }, context.now) };
}

function codesPage(
  { say, address, token }: Context,
  codes: readonly string[],
  headers: Record<string, string | string[]>,
): Shown {
  return {
    title: say`Your recovery codes`,
    place: '/account',
    headers,
    content: html`<h1>${say`Your recovery codes`}</h1>
${recoveryCodes(say, codes, address('/account/recovery-codes/file'), token)}
<p><a class="primary" href="${address('/account')}">${say`I have kept them: continue`}</a></p>`,
  };
}

async function passkeysPage(context: Context, faults: Faults): Promise<Shown> {
  const { baseUrl, address, token, form, ring, say } = context;
  const { row, passkeys } = await own(context);
  const button = newPasskeyButton(say, ring, baseUrl, row, passkeys, say`Add a passkey`);
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
    content: html`${accountNotice(context)}
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
${currentPasswordField(say, faults)}
${button}
</form>`
    : html`<p>${say`Browsers create passkeys only where this service is reached by HTTPS under a name.`}</p>`
}
</section>`,
  };
}
