// Webhook endpoints of all merchants, and one of them: whether its server answers, what was sent, and what came of it.
import { may } from '../../administrators/administrator.ts';
import { askedOf, filterBar, filterChoice } from '../../administrators/pages/filters.ts';
import { literal, moment, notice, rows, said } from '../../administrators/pages/parts.ts';
import type { Outcome, Shown } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { DAY_MS } from '../../lib/time.ts';
import { MODE_NAMES } from '../../merchants/pages/merchant-key-parts.ts';
import { pager, records } from '../../web/markup/table.ts';
import { DELIVERIES_KEPT_MS, DELIVERY_STATUSES, type Delivery, type DeliveryStatus } from '../delivery.ts';
import { listDeliveries } from '../delivery-queries.ts';
import type { Endpoint } from '../endpoint.ts';
import { presentEndpoint } from '../present.ts';
import { findEndpoint, findQueue, listEndpoints, queuesOf } from '../queries.ts';
import type { WebhookContext } from './context.ts';

export const WEBHOOKS = '/webhooks';
const ENDPOINTS_SHOWN = 50;
const DELIVERIES_SHOWN = 50;
const ID_MAXIMUM = 100;

export const DELIVERY_NAMES: Record<DeliveryStatus, string> = {
  pending: 'Not tried yet',
  retrying: 'To be tried again',
  delivered: 'Delivered',
  failed: 'Given up',
};

/** Why an endpoint gets nothing, as the end of a sentence. */
const DISABLED_BECAUSE: Record<NonNullable<Endpoint['disabled_reason']>, string> = {
  merchant: 'by its merchant',
  administrator: 'by an administrator',
  operator: 'by the operator',
  gone: 'because its server answered 410, gone',
  failing: 'because no attempt succeeded for 5 days',
  secret_lost: 'because its secret is lost; its merchant can make a new one',
};

interface Line {
  endpoint: Endpoint;
  /** When the first attempt since the last success failed; null after a success. */
  failingSince: number | null;
}

/** The endpoint that the path names. Throws `not_found`. */
export async function endpointNamed({ database, params }: WebhookContext): Promise<Endpoint> {
  const endpoint = await findEndpoint(database, params.endpoint_id!);
  if (!endpoint) throw new OperationalError('not_found', 'There is no such webhook endpoint.');
  return endpoint;
}

/** The endpoints of all merchants, or of the one that `merchant` names. */
export async function webhooksPage(context: WebhookContext): Promise<Shown> {
  const { database, address, query } = context;
  const asked = askedOf(query, ['merchant', 'after'], ID_MAXIMUM);
  const all = (await listEndpoints(database)).filter(
    ({ merchant_id }) => asked.merchant === undefined || merchant_id === asked.merchant,
  );
  const rest = all.filter(({ id }) => id > (asked.after ?? ''));
  const shown = rest.slice(0, ENDPOINTS_SHOWN);
  const queues = await queuesOf(
    database,
    shown.map(({ id }) => id),
  );
  const lines = shown.map((endpoint) => ({
    endpoint,
    failingSince: queues.find(({ endpoint_id }) => endpoint_id === endpoint.id)?.failing_since ?? null,
  }));
  const { merchant } = asked;
  const above = merchant
    ? html`<a class="plain" href="${address(`/merchants/${merchant}`)}">${merchantName(context, merchant)}</a>`
    : html`<a class="plain" href="${address('/merchants')}">Merchants</a>`;
  const content = html`<p>${above}</p>
<h1>Webhooks</h1>
${
  lines.length === 0
    ? html`<div class="empty"><p>There are no webhook endpoints${merchant && ' of this merchant'}.</p></div>`
    : endpointTable(context, lines)
}
${pager(
  asked.after !== undefined && ['First', address(WEBHOOKS, { merchant })],
  rest.length > ENDPOINTS_SHOWN && ['Next', address(WEBHOOKS, { merchant, after: shown.at(-1)!.id })],
)}
<p class="muted">Merchants add endpoints by the API: <code>POST /v1/webhook_endpoints</code>.</p>`;
  return { title: 'Webhooks', content, place: '/merchants' };
}

const merchantName = ({ directory }: WebhookContext, id: string): Html =>
  said(directory.merchant(id)?.name ?? id);

export const endpointAddress = ({ address }: WebhookContext, { id }: Pick<Endpoint, 'id'>) =>
  address(`${WEBHOOKS}/${id}`);

function endpointTable(context: WebhookContext, lines: readonly Line[]): Html {
  return records<Line>(
    [
      [
        'Endpoint',
        ({ endpoint }) =>
          html`<a class="plain" href="${endpointAddress(context, endpoint)}" data-key-row>${literal(endpoint.url)}</a>`,
      ],
      ['Merchant', ({ endpoint }) => merchantName(context, endpoint.merchant_id)],
      ['Mode', ({ endpoint }) => MODE_NAMES[endpoint.mode]],
      ['State', stateStamp],
      [
        'Since',
        ({ endpoint, failingSince }) =>
          moment(context, endpoint.disabled_at ?? failingSince ?? endpoint.created_at),
      ],
    ],
    lines,
  );
}

function stateStamp({ endpoint, failingSince }: Line): Html {
  if (endpoint.disabled_at !== null) return html`<span class="stamp rejected">Disabled</span>`;
  if (failingSince !== null) return html`<span class="stamp requires_review">Failing</span>`;
  return html`<span class="stamp approved">Enabled</span>`;
}

/** One endpoint, what administrators can do about it, and its deliveries. */
export async function endpointPage(context: WebhookContext): Promise<Outcome> {
  const { database, address, query } = context;
  const endpoint = await endpointNamed(context);
  const failingSince = (await findQueue(database, endpoint.id))?.failing_since ?? null;
  const asked = askedOf(query, ['status', 'before'], ID_MAXIMUM);
  const status = DELIVERY_STATUSES.find((one) => one === asked.status);
  const faults = asked.status !== undefined && !status ? { status: 'Choose one of the states' } : {};
  const found = await listDeliveries(database, endpoint.id, { status }, asked.before, DELIVERIES_SHOWN + 1);
  const shown = found.slice(0, DELIVERIES_SHOWN);
  const path = `${WEBHOOKS}/${endpoint.id}`;
  const states = DELIVERY_STATUSES.map((one) => [one, DELIVERY_NAMES[one]] as const);
  const content = html`<p><a class="plain" href="${address(WEBHOOKS)}">Webhooks</a></p>
<div class="subject">
<p>${stateStamp({ endpoint, failingSince })}</p>
<h1>${literal(endpoint.url)}</h1>
</div>
${stateNotice(context, endpoint, failingSince)}
${facts(context, endpoint)}
${actions(context, endpoint)}
<section class="block" aria-labelledby="deliveries-heading"><h2 id="deliveries-heading">Deliveries</h2>
${filterBar(context, path, asked.status === undefined ? {} : { status: asked.status }, {
  fields: filterChoice('status', 'State', states, asked.status, faults.status),
  button: 'Show',
})}
${shown.length === 0 ? html`<p>There are none${status && ' in this state'}.</p>` : deliveryTable(context, shown)}
${pager(
  asked.before !== undefined && ['Newest', address(path, { status })],
  found.length > DELIVERIES_SHOWN && ['Older', address(path, { status, before: shown.at(-1)!.id })],
)}
<p class="muted">Deliveries are kept for ${DELIVERIES_KEPT_MS / DAY_MS} days.</p>
</section>`;
  return { title: endpoint.url, content, place: '/merchants', faults };
}

function stateNotice(context: WebhookContext, endpoint: Endpoint, failingSince: number | null): Html | null {
  if (endpoint.disabled_at !== null)
    return notice(
      html`<p>Disabled ${DISABLED_BECAUSE[endpoint.disabled_reason!]}, ${moment(context, endpoint.disabled_at)}. Nothing is sent to it.
What happens meanwhile is sent once it is enabled.</p>${
        endpoint.disabled_note !== null &&
        html`<p>Its merchant is told:</p><p class="words" dir="auto">${endpoint.disabled_note}</p>`
      }`,
      'warn',
    );
  const { disables_at } = presentEndpoint(endpoint, { failing_since: failingSince });
  if (failingSince === null || disables_at === null) return null;
  return notice(
    html`<p>Every attempt has failed since ${moment(context, failingSince)}. If none succeeds, it is disabled on
${moment(context, Date.parse(disables_at))}.</p>`,
    'warn',
  );
}

function facts(context: WebhookContext, endpoint: Endpoint): Html {
  const { address, now } = context;
  const types: string[] | null = endpoint.types === null ? null : JSON.parse(endpoint.types);
  const { old_secret_until } = endpoint;
  return rows([
    ['Id', literal(endpoint.id)],
    [
      'Merchant',
      html`<a class="plain" href="${address(`/merchants/${endpoint.merchant_id}`)}">${merchantName(context, endpoint.merchant_id)}</a>`,
    ],
    ['Mode', MODE_NAMES[endpoint.mode]],
    ['Events', types === null ? 'All' : literal(types.join(', '))],
    ['Description', endpoint.description && said(endpoint.description)],
    ['Added', moment(context, endpoint.created_at)],
    ['Secret made', moment(context, endpoint.secret_made_at)],
    [
      'The secret before',
      old_secret_until !== null && old_secret_until > now
        ? html`signs along until ${moment(context, old_secret_until)}`
        : null,
    ],
  ]);
}

function actions(context: WebhookContext, endpoint: Endpoint): Html | null {
  const { address, principal } = context;
  if (!may(principal.role, 'administer')) return null;
  const link = (act: string, text: string) =>
    html`<a class="secondary" href="${address(`${WEBHOOKS}/${endpoint.id}/${act}`)}">${text}…</a> `;
  return html`<p class="actions">${
    endpoint.disabled_at === null
      ? html`${link('resend', 'Send again')}${link('disable', 'Disable')}`
      : link('enable', 'Enable')
  }</p>`;
}

function deliveryTable(context: WebhookContext, deliveries: readonly Delivery[]): Html {
  const { address } = context;
  return records<Delivery>(
    [
      [
        'Event',
        ({ id, endpoint_id, type }) =>
          html`<a class="plain" href="${address(`${WEBHOOKS}/${endpoint_id}/deliveries/${id}`)}" data-key-row>${literal(type)}</a>`,
      ],
      ['Queued', ({ created_at }) => moment(context, created_at)],
      ['State', ({ status }) => html`<span>${DELIVERY_NAMES[status]}</span>`],
      ['Next attempt', ({ due_at }) => (due_at === null ? '–' : moment(context, due_at))],
      ['Attempts', ({ attempts }) => attempts, 'number'],
    ],
    deliveries,
  );
}
