// The console's pages of mail: letters and what became of them, the link that is sent by hand, a trial, and the letters one wants oneself.

import { may } from '../../administrators/administrator.ts';
import { askedOf } from '../../administrators/pages/filters.ts';
import { choice, field, literal, moment, notice } from '../../administrators/pages/parts.ts';
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
import { listLetters } from '../queries.ts';

const MAIL = '/mail';
const CHOICES = '/account/letters';
const SHOWN = 50;
const ID_MAXIMUM = 100;

export interface MailPageParts {
  mail: { transport: MailTransport | undefined; from: string };
  /** Counts a link that is sent. Throws `rate_limited`. */
  limitLink(payment: Payment): void;
}
type MailContext = Context & MailPageParts;

const routes: readonly Route<MailContext>[] = [
  page<MailContext>(MAIL, 'read', lettersPage),
  form<MailContext>(`${MAIL}/link`, 'decide', takeLink, MAIL),
  form<MailContext>(`${MAIL}/trial`, 'administer', takeTrial, MAIL),
  page<MailContext>(CHOICES, 'read', choicesPage),
  form<MailContext>(CHOICES, 'read', takeChoices),
];

/** The routes, which are given `parts`. */
export const mailPages = (parts: MailPageParts): Route[] => withParts(parts, routes);

const STATUS_NAMES: Record<Letter['status'], string> = {
  pending: 'Waits',
  retrying: 'To be tried again',
  sent: 'Sent',
  failed: 'Given up',
  withdrawn: 'Not sent',
};

async function lettersPage(context: MailContext): Promise<Shown> {
  const { database, address, query, mail, principal, token, now } = context;
  const { about, before } = askedOf(query, ['about', 'before', 'sent'], ID_MAXIMUM);
  const letters = await listLetters(database, { about, before }, SHOWN + 1);
  const shown = letters.slice(0, SHOWN);
  const found = about !== undefined && isPaymentId(about) ? await findPayment(database, about) : undefined;
  const payment = found && asOf(found, now);
  const canSend =
    payment?.status === 'pending' && customerEmail(payment) !== undefined && may(principal.role, 'decide');
  const content = html`${query.get('sent') === 'link' && notice(html`<p>The link is on its way to the customer.</p>`)}
<h1>Mail</h1>
${!mail.transport && notice(html`<p>Mail is off. To send letters, set <code>mail</code> in the configuration.</p>`, 'warn')}
${payment && html`<p>About the payment <a href="${address(`/payments/${payment.id}`)}">${literal(payment.id)}</a>.</p>`}
${
  canSend &&
  html`<form method="post" action="${address(`${MAIL}/link`)}">${token}<input type="hidden" name="payment" value="${payment.id}">
<button class="primary">Send the link to the customer</button></form>`
}
${
  shown.length === 0
    ? html`<div class="empty"><p>There are no letters${about !== undefined && ' about this payment'}.</p></div>`
    : letterTable(context, shown)
}
${pager(
  before !== undefined && ['Newest', address(MAIL, { about })],
  letters.length > SHOWN && ['Older', address(MAIL, { about, before: shown.at(-1)!.id })],
)}
<p class="muted">Letters are kept for 30 days. <a href="${address(CHOICES)}">Which letters you get yourself</a></p>
${
  about === undefined &&
  may(principal.role, 'administer') &&
  html`<form method="post" action="${address(`${MAIL}/trial`)}">${token}<button class="secondary">Send a letter to ${principal.email}</button></form>`
}`;
  return { title: 'Mail', content, place: '/payments' };
}

const letterTable = (context: MailContext, letters: readonly Letter[]) =>
  records<Letter>(
    [
      ['Letter', ({ kind }) => html`<span>${kind.replaceAll('_', ' ')}</span>`],
      [
        'To',
        ({ recipient }) => (recipient.startsWith('adm_') ? html`an administrator` : html`the ${recipient}`),
      ],
      ['State', ({ status }) => html`<span>${STATUS_NAMES[status]}</span>`],
      ['Written', ({ created_at }) => moment(context, created_at)],
      ['Tries', ({ attempts }) => html`${attempts}`],
      ['What the server said', ({ answer }) => html`<span dir="auto">${answer ?? ''}</span>`],
    ],
    letters,
  );

async function takeLink(context: MailContext): Promise<Outcome> {
  const { form, journal, principal, act, address, mail, limitLink } = context;
  const id = form.get('payment') ?? '';
  if (!mail.transport) throw mailIsOff();
  await journal.commit(async (transaction) => {
    await requireStanding(transaction, principal, 'decide');
    limitLink(await sendLink(transaction, undefined, id, act));
  }, id);
  return { to: address(MAIL, { about: id, sent: 'link' }) };
}

/** Sends a letter to the administrator who asks, at once, and shows each step with the server's own words. */
async function takeTrial(context: MailContext): Promise<Shown> {
  const { principal, mail, now, address } = context;
  if (!mail.transport) throw mailIsOff();
  const letter = { id: randomId(LETTER_ID_PREFIX), created_at: now };
  const to = { to: principal.email, name: PRODUCT, content: trialLetter() };
  const steps: string[] = [];
  const { is, words } = await mail.transport.send(messageOf(letter, mail, to), (line) => steps.push(line));
  const title = is === 'sent' ? 'The letter was sent' : 'The letter was not sent';
  const content = html`<p><a href="${address(MAIL)}">Mail</a></p>
<h1>${title}</h1>
<p>${words}</p>
<pre class="code">${steps.join('\n')}</pre>`;
  return { title, content, place: '/payments' };
}

const DIGESTS = [
  ['hour', 'Each hour, while payments wait'],
  ['day', 'Once a day'],
  ['never', 'Never'],
] as const;
const SWITCH = [
  ['on', 'Yes'],
  ['off', 'No'],
] as const;

async function choicesPage(
  context: MailContext,
  faults: Readonly<Record<string, string>> = {},
): Promise<Shown> {
  const { database, principal, address, token, query, form: sent } = context;
  const chosen = choicesOf((await findAdministrator(database, principal.id))!);
  const value = (name: 'hour' | 'least') => sent.get(name) ?? String(chosen[name]);
  const number = { inputmode: 'numeric', size: 5 };
  const content = html`<p><a class="plain" href="${address('/account')}">Your account</a></p>
<h1>Your letters</h1>
${query.get('done') === 'letters' && notice(html`<p>Saved.</p>`)}
<form method="post" action="${address(CHOICES)}#errors" novalidate>${token}
${choice({ name: 'digest', legend: 'Digest of payments to review', options: DIGESTS, chosen: sent.get('digest') ?? chosen.digest })}
${field({ name: 'hour', label: 'From which hour of the day, if once a day (0 to 23)', value: value('hour'), fault: faults.hour, attributes: number })}
${field({ name: 'least', label: 'From how many payments', value: value('least'), fault: faults.least, attributes: number })}
${choice({ name: 'alerts', legend: 'Alerts: history broken, backup old', options: SWITCH, chosen: sent.get('alerts') ?? (chosen.alerts ? 'on' : 'off') })}
<button class="primary">Save</button>
</form>`;
  return { title: 'Your letters', content, place: '/account', faults };
}

async function takeChoices(context: MailContext): Promise<Outcome> {
  const { form: sent, journal, principal, request, address } = context;
  const within = (name: string, least: number, most: number) => {
    const text = sent.get(name) ?? '';
    return /^\d{1,5}$/.test(text) && +text >= least && +text <= most ? +text : undefined;
  };
  const [hour, least] = [within('hour', 0, 23), within('least', 1, 10_000)];
  const digest = DIGESTS.find(([name]) => name === sent.get('digest'))?.[0];
  if (hour === undefined || least === undefined || digest === undefined)
    return choicesPage(context, {
      ...(hour === undefined && { hour: 'Hour must be a number from 0 to 23' }),
      ...(least === undefined && { least: 'Number of payments must be from 1 to 10000' }),
      ...(digest === undefined && { digest: 'Choose how often the digest comes' }),
    });
  const choices = { digest, hour, least, alerts: sent.get('alerts') !== 'off' };
  await journal.commit(async (transaction) => {
    await requireStanding(transaction, principal, 'read');
    if (!(await keepChoices(transaction, principal.id, choices, request.id)))
      throw new OperationalError('not_found', 'There is no such administrator.');
  }, principal.id);
  return { to: address(CHOICES, { done: 'letters' }) };
}
