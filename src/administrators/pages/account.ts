// The signed-in administrator's own account: their name and role, how they sign in, where they are signed in, and its routes.
import { Readable } from 'node:stream';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { failuresSince } from '../failures.ts';
import { openSessionsOf, sessionBefore } from '../queries.ts';
import { codesLeft } from '../recovery-codes.ts';
import { SESSIONS_MAXIMUM } from '../session.ts';
import { accountForms, accountNotice, own } from './account-forms.ts';
import { RECOVERY_CODE } from './factor-parts.ts';
import { secondsLeft, stayPage } from './frame.ts';
import { helpPage } from './help.ts';
import { literal, moment, rows, said } from './parts.ts';
import { type Context, form, type Outcome, page, type Route, type Shown } from './route.ts';
import { signOut } from './sign-in.ts';

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

async function accountPage(context: Context): Promise<Shown> {
  const { address, keys, principal, database, now, say } = context;
  const { row, passkeys } = await own(context);
  const sessions = await openSessionsOf(database, principal.id, now);
  const change = (path: string, text: string) => html`<a class="plain" href="${address(path)}">${text}</a>`;
  const left = codesLeft(row.recovery_codes);
  const here = (id: string) => id === principal.session && html` <strong>(${say`this browser`})</strong>`;
  return {
    title: say`Your account`,
    place: '/account',
    content: html`${accountNotice(context)}
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

/** Gives back as a file the codes that the page itself holds: they are kept nowhere that they could be read from again. */
function codesFile({ form }: Context): Outcome {
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

export const accountRoutes: readonly Route[] = [
  page('/help', 'read', helpPage),
  page('/session', 'read', stayPage),
  { ...page('/session/left', 'read', secondsLeft), isBackground: true },
  form('/sign-out', 'read', signOut, '/'),
  page('/account', 'read', accountPage),
  form('/account/recovery-codes/file', 'read', codesFile, '/account/recovery-codes'),
  ...accountForms,
];
