// The console's pages of mail: letters and what became of them, the link that is sent by hand, a trial, and the letters one wants oneself.

import { may } from '../../administrators/administrator.ts';
import { askedOf } from '../../administrators/pages/filters.ts';
import { choice, emptyState, field, literal, moment, notice } from '../../administrators/pages/parts.ts';
import {
  type Context,
  form,
  type Outcome,
  page,
  type Route,
  type Shown,
  withParts,
} from '../../administrators/pages/route.ts';
import { findAdministrator } from '../../administrators/queries.ts';
import { requireStanding } from '../../administrators/standing.ts';
import { OperationalError } from '../../lib/errors.ts';
import { html } from '../../lib/html.ts';
import { randomId } from '../../lib/ids.ts';
import { phrase } from '../../lib/phrases.ts';
import { asOf, customerEmail, isPaymentId, type Payment } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { sendLink } from '../../payments/send-link.ts';
import { pager, records } from '../../web/markup/table.ts';
import { choicesOf, keepChoices } from '../choices.ts';
import { LETTER_ID_PREFIX, type Letter } from '../letter.ts';
import { messageOf } from '../letters/compose.ts';
import { PRODUCT, trialLetter } from '../letters/staff.ts';
import { mailIsOff } from '../link-limit.ts';
import type { MailTransport } from '../message.ts';
import { listLetters, sendAgain } from '../queries.ts';
import { LETTER_NAMES, recipientOf, STATUS_NAMES } from './told.ts';

const MAIL = '/mail';
const CHOICES = '/account/letters';
const SHOWN = 50;
const ID_MAXIMUM = 100;

export interface MailPageParts {
  mail: {
    transport: MailTransport | undefined;
    from: string;
    /** Counts a link before it is sent. Throws `conflict` and `rate_limited`. */
    countLink(payment: Payment): void;
  };
}
type MailContext = Context & MailPageParts;

const routes: readonly Route<MailContext>[] = [
  page<MailContext>(MAIL, 'read', lettersPage),
  form<MailContext>(`${MAIL}/link`, 'decide', takeLink, MAIL),
  form<MailContext>(`${MAIL}/again`, 'decide', takeAgain, MAIL),
  form<MailContext>(`${MAIL}/trial`, 'administer', takeTrial, MAIL),
  page<MailContext>(CHOICES, 'read', choicesPage),
  form<MailContext>(CHOICES, 'read', takeChoices),
];

/** The routes, which are given `parts`. */
export const mailPages = (parts: MailPageParts): Route[] => withParts(parts, routes);

async function lettersPage(context: MailContext): Promise<Shown> {
  const { database, address, query, mail, principal, token, now, say } = context;
  const { about, before, state } = askedOf(query, ['about', 'before', 'state', 'sent'], ID_MAXIMUM);
  const failed = state === 'failed';
  const letters = await listLetters(database, { about, before, failed }, SHOWN + 1);
  const shown = letters.slice(0, SHOWN);
  const found = about !== undefined && isPaymentId(about) ? await findPayment(database, about) : undefined;
  const payment = found && asOf(found, now);
  const canSend =
    payment?.status === 'pending' && customerEmail(payment) !== undefined && may(principal.role, 'decide');
  const done = { link: say`The link is on its way to the customer.`, again: say`The email is being sent.` };
  const said = done[query.get('sent') as keyof typeof done] as string | undefined;
  const other = failed ? say`All emails` : say`Only emails that failed`;
  const all = about === undefined ? say`There are no emails.` : say`There are no emails about this.`;
  const none = failed ? say`No email failed.` : all;
  const content = html`${said && notice(html`<p>${said}</p>`)}
<h1>${say`Mail`}</h1>
${!mail.transport && notice(html`<p>${say.html`Mail is off. To send emails, set ${html`<code>mail</code>`} in the configuration.`}</p>`, 'warn')}
${payment && html`<p>${say.html`About the payment ${html`<a href="${address(`/payments/${payment.id}`)}">${literal(payment.id)}</a>`}.`}</p>`}
${
  canSend &&
  html`<form method="post" action="${address(`${MAIL}/link`)}">${token}<input type="hidden" name="payment" value="${payment.id}">
<button class="primary">${say`Send the link to the customer`}</button></form>`
}
${about === undefined && html`<p><a class="plain" href="${address(MAIL, { state: failed ? undefined : 'failed' })}">${other}</a></p>`}
${shown.length === 0 ? emptyState('mail', none) : letterTable(context, shown)}
${pager(
  before !== undefined && [say`Newest`, address(MAIL, { about, state })],
  letters.length > SHOWN && [say`Older`, address(MAIL, { about, state, before: shown.at(-1)!.id })],
  say`Pages`,
)}
<p class="muted">${say`Emails are listed for 30 days.`} <a href="${address(CHOICES)}">${say`Which emails you get yourself`}</a></p>
${about === undefined && trialForm(context)}`;
  return { title: say`Mail`, content, place: '/payments' };
}

function trialForm({ principal, address, token, say }: MailContext) {
  if (!may(principal.role, 'administer')) return null;
  return html`<form method="post" action="${address(`${MAIL}/trial`)}">${token}<button class="secondary">${say`Send a test email to ${principal.email}`}</button></form>`;
}

/** How a status looks: as that of a payment which means as much. */
const STAMPS: Readonly<Record<Letter['status'], string>> = {
  pending: 'pending',
  retrying: 'requires_review',
  sent: 'approved',
  failed: 'rejected',
  withdrawn: 'cancelled',
};

function letterTable(context: MailContext, letters: readonly Letter[]) {
  const { say, address, principal, token } = context;
  const again = ({ id, status }: Letter) =>
    status === 'failed' &&
    may(principal.role, 'decide') &&
    html`<form method="post" action="${address(`${MAIL}/again`)}">${token}<input type="hidden" name="letter" value="${id}">
<button class="secondary">${say`Send again now`}</button></form>`;
  return records<Letter>(
    [
      [say`Email`, ({ kind }) => html`<span>${say.of(LETTER_NAMES[kind])}</span>`],
      [say`Recipient`, (letter) => html`${recipientOf(say, letter)}`],
      [
        say`State`,
        (letter) =>
          html`<span class="stamp ${STAMPS[letter.status]}"><span>${say.of(STATUS_NAMES[letter.status])}</span></span> ${again(letter)}`,
      ],
      [say`Written`, ({ created_at }) => moment(context, created_at)],
      [say`Attempts`, ({ attempts }) => html`${attempts}`],
      [
        say`About`,
        ({ about }) =>
          isPaymentId(about)
            ? html`<a href="${address(`/payments/${about}`)}">${say`Payment`}</a>`
            : html`<span class="muted">–</span>`,
      ],
      [say`Answer of the server`, ({ answer }) => html`<span dir="auto">${say.of(answer ?? '')}</span>`],
    ],
    letters,
  );
}

/** Has a letter that failed leave now. */
async function takeAgain(context: MailContext): Promise<Outcome> {
  const { form, journal, principal, address, mail } = context;
  const id = form.get('letter') ?? '';
  if (!mail.transport) throw mailIsOff();
  const again = await journal.commitAside(async (transaction) => {
    await requireStanding(transaction, principal, 'decide');
    return sendAgain(transaction, [id]);
  });
  if (again.length === 0)
    throw new OperationalError('invalid_status', phrase('Only an email that failed is sent again.'));
  return { to: address(MAIL, { sent: 'again' }) };
}

async function takeLink(context: MailContext): Promise<Outcome> {
  const { form, journal, principal, act, address, mail } = context;
  const id = form.get('payment') ?? '';
  if (!mail.transport) throw mailIsOff();
  await journal.commit(async (transaction) => {
    await requireStanding(transaction, principal, 'decide');
    mail.countLink(await sendLink(transaction, undefined, id, act));
  }, id);
  return { to: address(MAIL, { about: id, sent: 'link' }) };
}

/** Sends a letter to the administrator who asks, at once, and shows each step with the server's own words. */
async function takeTrial(context: MailContext): Promise<Shown> {
  const { principal, mail, now, address, say } = context;
  if (!mail.transport) throw mailIsOff();
  const letter = { id: randomId(LETTER_ID_PREFIX), created_at: now };
  const to = { to: principal.email, name: PRODUCT, content: trialLetter(context) };
  const steps: string[] = [];
  const { is, words } = await mail.transport.send(messageOf(letter, mail, to), {
    trace: (line) => steps.push(line),
  });
  const title = is === 'sent' ? say`The email was sent` : say`The email was not sent`;
  const content = html`<p><a class="plain" href="${address(MAIL)}">${say`Mail`}</a></p>
<h1>${title}</h1>
<p lang="en">${words}</p>
${steps.length > 0 && html`<pre class="code" translate="no">${steps.join('\n')}</pre>`}`;
  return { title, content, place: '/payments' };
}

const DIGESTS = [
  ['hour', phrase('Each hour, while payments wait')],
  ['day', phrase('Once a day')],
  ['never', phrase('Never')],
] as const;
const SWITCH = [
  ['on', phrase('Yes')],
  ['off', phrase('No')],
] as const;

async function choicesPage(
  context: MailContext,
  faults: Readonly<Record<string, string>> = {},
): Promise<Shown> {
  const { database, principal, address, token, query, form: sent, say } = context;
  const chosen = choicesOf((await findAdministrator(database, principal.id))!);
  const value = (name: 'hour' | 'least') => sent.get(name) ?? String(chosen[name]);
  const number = { inputmode: 'numeric', class: 'short' };
  const said = (options: readonly (readonly [string, string])[]) =>
    options.map(([name, label]) => [name, say.of(label)] as const);
  const content = html`<p><a class="plain" href="${address('/account')}">${say`Your account`}</a></p>
<h1>${say`Your emails`}</h1>
${query.get('done') === 'letters' && notice(html`<p>${say`Saved.`}</p>`)}
<form class="narrow" method="post" action="${address(CHOICES)}#errors" novalidate>${token}
${choice({ name: 'digest', legend: say`Digest of payments to review`, options: said(DIGESTS), chosen: sent.get('digest') ?? chosen.digest })}
${field({ name: 'hour', label: say`Hour of the daily digest (0 to 23)`, value: value('hour'), fault: faults.hour, attributes: number })}
${field({ name: 'least', label: say`Send the digest only if at least this many payments wait`, value: value('least'), fault: faults.least, attributes: number })}
${choice({ name: 'alerts', legend: say`Alert me when the history is broken or the backup is old`, options: said(SWITCH), chosen: sent.get('alerts') ?? (chosen.alerts ? 'on' : 'off') })}
<p class="hint">${say`Emails come in the language in which you sign in, or save this.`}</p>
<p class="actions"><button class="primary">${say`Save`}</button></p>
</form>`;
  return { title: say`Your emails`, content, place: '/account', faults };
}

async function takeChoices(context: MailContext): Promise<Outcome> {
  const { form: sent, journal, principal, request, address, say } = context;
  const within = (name: string, least: number, most: number) => {
    const text = sent.get(name) ?? '';
    return /^\d{1,5}$/.test(text) && +text >= least && +text <= most ? +text : undefined;
  };
  const [hour, least] = [within('hour', 0, 23), within('least', 1, 10_000)];
  const digest = DIGESTS.find(([name]) => name === sent.get('digest'))?.[0];
  if (hour === undefined || least === undefined || digest === undefined)
    return choicesPage(context, {
      ...(hour === undefined && { hour: say`Hour must be a number from 0 to 23` }),
      ...(least === undefined && { least: say`Number of payments must be from 1 to 10000` }),
      ...(digest === undefined && { digest: say`Choose how often the digest comes` }),
    });
  const choices = { digest, hour, least, alerts: sent.get('alerts') !== 'off', language: say.tag };
  await journal.commit(async (transaction) => {
    await requireStanding(transaction, principal, 'read');
    if (!(await keepChoices(transaction, principal.id, choices, request.id)))
      throw new OperationalError('not_found', 'There is no such administrator.');
  }, principal.id);
  return { to: address(CHOICES, { done: 'letters' }) };
}
