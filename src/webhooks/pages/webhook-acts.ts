// One webhook delivery with its attempts, and what administrators do about an endpoint: disable, enable, send again.
import { may } from '../../administrators/administrator.ts';
import { choice, type Faults, field, literal, moment, rows } from '../../administrators/pages/parts.ts';
import { questionPage } from '../../administrators/pages/question-page.ts';
import type { Outcome, Shown } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { asciiDigits } from '../../lib/text.ts';
import { DAY_MS } from '../../lib/time.ts';
import { REASON_MAXIMUM, reasonFault } from '../../merchants/suspend.ts';
import { addressOfPayment } from '../../review/pages/panel.ts';
import { records } from '../../web/markup/table.ts';
import { disableEndpoint, enableEndpoint } from '../change.ts';
import { type AttemptMade, DELIVERIES_KEPT_MS, type Delivery } from '../delivery.ts';
import { attemptsOf, findDelivery } from '../delivery-queries.ts';
import type { Endpoint } from '../endpoint.ts';
import { RESENDS, type Resend, resend, resendDelivery } from '../resend.ts';
import type { WebhookContext } from './context.ts';
import { DELIVERY_NAMES, endpointAddress, endpointNamed, WEBHOOKS } from './webhooks.ts';

const DAYS_MAXIMUM = DELIVERIES_KEPT_MS / DAY_MS;
const WHAT: Record<Resend, string> = {
  failed: 'What failed',
  missing: 'What it never got, because it was added later or its deliveries are no longer kept',
};

/** Everything that a question about an endpoint shares. */
function question(
  context: WebhookContext,
  endpoint: Endpoint,
  act: 'disable' | 'enable' | 'resend',
  { title, lead, fields, button }: { title: string; lead: string; fields?: Html; button: string },
  faults: Faults = {},
): Shown {
  return questionPage(context, {
    title,
    place: '/merchants',
    heading: html`${title}`,
    lead: html`<p>${literal(endpoint.url)}</p>
<p>${lead}</p>`,
    path: `${WEBHOOKS}/${endpoint.id}/${act}`,
    ...(fields && { fields }),
    button,
    look: act === 'disable' ? 'danger' : 'primary',
    back: endpointAddress(context, endpoint),
    faults,
  });
}

/** The page that asks why an endpoint is to be disabled. */
export async function disablePage(context: WebhookContext, faults: Faults = {}): Promise<Outcome> {
  const endpoint = await endpointNamed(context);
  const reason = field({
    name: 'reason',
    label: 'Reason',
    hint: `Its merchant reads it. At most ${REASON_MAXIMUM} characters.`,
    value: context.form.get('reason') ?? '',
    fault: faults.reason,
    lines: 3,
  });
  const lead =
    'Nothing is sent to it until an administrator enables it. What happens meanwhile is kept, and sent then.';
  const parts = { title: 'Disable this endpoint?', lead, fields: reason, button: 'Disable the endpoint' };
  return question(context, endpoint, 'disable', parts, faults);
}

export async function disableWebhook(context: WebhookContext): Promise<Outcome> {
  const { journal, form } = context;
  const endpoint = await endpointNamed(context);
  const reason = (form.get('reason') ?? '').replace(/\r\n?/g, '\n').trim();
  const fault = reasonFault(reason);
  if (fault) return disablePage(context, { reason: fault });
  await journal.commit(
    (transaction) => disableEndpoint(transaction, endpoint.id, 'administrator', context.act, reason),
    endpoint.id,
  );
  return { to: endpointAddress(context, endpoint) };
}

export async function enablePage(context: WebhookContext): Promise<Outcome> {
  const endpoint = await endpointNamed(context);
  const lead = 'It goes on where it was disabled: what happened meanwhile is sent now.';
  const parts = { title: 'Enable this endpoint?', lead, button: 'Enable the endpoint' };
  return question(context, endpoint, 'enable', parts);
}

export async function enableWebhook(context: WebhookContext): Promise<Outcome> {
  const endpoint = await endpointNamed(context);
  await context.journal.commit(
    (transaction) => enableEndpoint(transaction, endpoint.id, context.act),
    endpoint.id,
  );
  return { to: endpointAddress(context, endpoint) };
}

/** The page that asks what an endpoint is to be sent again. */
export async function resendPage(context: WebhookContext, faults: Faults = {}): Promise<Outcome> {
  const { form } = context;
  const endpoint = await endpointNamed(context);
  const fields = html`${choice({
    name: 'what',
    legend: 'What is sent',
    options: RESENDS.map((one) => [one, WHAT[one]] as const),
    chosen: form.get('what') ?? 'failed',
    fault: faults.what,
  })}${field({
    name: 'days',
    label: 'Of the last how many days',
    hint: `1 to ${DAYS_MAXIMUM}.`,
    value: form.get('days') ?? '1',
    fault: faults.days,
    attributes: { inputmode: 'numeric', class: 'short' },
  })}`;
  const lead = 'Each event keeps its id, so that its server can tell one that it has already.';
  const parts = { title: 'Send again', lead, fields, button: 'Send again' };
  return question(context, endpoint, 'resend', parts, faults);
}

export async function resendAll(context: WebhookContext): Promise<Outcome> {
  const { journal, form, now } = context;
  const endpoint = await endpointNamed(context);
  const what = RESENDS.find((one) => one === form.get('what'));
  const days = Number(asciiDigits(form.get('days')?.trim() ?? ''));
  const isDays = Number.isInteger(days) && days >= 1 && days <= DAYS_MAXIMUM;
  if (!what || !isDays)
    return resendPage(context, {
      ...(!what && { what: 'Choose what is sent' }),
      ...(!isDays && { days: `Enter a number of days from 1 to ${DAYS_MAXIMUM}` }),
    });
  await journal.commit(
    (transaction) => resend(transaction, endpoint.id, what, now - days * DAY_MS, context.act),
    endpoint.id,
  );
  return { to: endpointAddress(context, endpoint) };
}

/** The delivery that the path names, of the endpoint that it names. Throws `not_found`. */
async function deliveryNamed(context: WebhookContext): Promise<{ endpoint: Endpoint; delivery: Delivery }> {
  const endpoint = await endpointNamed(context);
  const delivery = await findDelivery(context.database, endpoint, context.params.delivery_id!);
  if (delivery?.endpoint_id !== endpoint.id)
    throw new OperationalError('not_found', 'There is no such delivery. They are kept for 30 days.');
  return { endpoint, delivery };
}

export async function deliveryPage(context: WebhookContext): Promise<Outcome> {
  const { database, address, principal, token } = context;
  const { endpoint, delivery } = await deliveryNamed(context);
  const attempts = await attemptsOf(database, [delivery.id]);
  const maySend = may(principal.role, 'administer') && endpoint.disabled_at === null;
  const again = address(`${WEBHOOKS}/${endpoint.id}/deliveries/${delivery.id}/resend`);
  const content = html`<p><a class="plain" href="${endpointAddress(context, endpoint)}">${literal(endpoint.url)}</a></p>
<h1>${literal(delivery.type)}</h1>
${rows([
  ['State', DELIVERY_NAMES[delivery.status]],
  [
    'Payment',
    html`<a class="plain" href="${addressOfPayment(context, delivery.payment_id)}">${literal(delivery.payment_id)}</a>`,
  ],
  ['Event', literal(delivery.event_id)],
  ['Delivery', literal(delivery.id)],
  ['Queued', moment(context, delivery.created_at)],
  ['Next attempt', delivery.due_at === null ? null : moment(context, delivery.due_at)],
])}
${
  maySend &&
  html`<form method="post" action="${again}">${token}<p class="actions"><button class="secondary">Send again now</button></p></form>`
}
<section class="block" aria-labelledby="attempts-heading"><h2 id="attempts-heading">Attempts</h2>
${attempts.length === 0 ? html`<p>None was made yet.</p>` : attemptTable(context, attempts)}
</section>`;
  return { title: delivery.type, content, place: '/merchants' };
}

function attemptTable(context: WebhookContext, attempts: readonly AttemptMade[]): Html {
  return records<AttemptMade>(
    [
      ['Attempt', ({ number }) => number],
      ['Made', ({ at }) => moment(context, at)],
      ['What happened', ({ reason }) => html`<span>${reason}</span>`],
      [
        'What the server answered',
        ({ reply }) =>
          reply === null || reply === ''
            ? '–'
            : html`<details><summary>Show</summary><pre class="code" dir="auto" translate="no">${reply}</pre></details>`,
      ],
    ],
    attempts,
  );
}

export async function resendOne(context: WebhookContext): Promise<Outcome> {
  const { journal, address } = context;
  const { endpoint, delivery } = await deliveryNamed(context);
  await journal.commit((transaction) => resendDelivery(transaction, delivery), endpoint.id);
  return { to: address(`${WEBHOOKS}/${endpoint.id}/deliveries/${delivery.id}`) };
}
