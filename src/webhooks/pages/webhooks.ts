// Webhook endpoints of all merchants, and one of them: whether its server answers, what was sent, and what came of it.

import { may } from '../../administrators/administrator.ts';
import { actLinks } from '../../administrators/pages/act-pages.ts';
import { askedOf, filterBar, filterChoice } from '../../administrators/pages/filters.ts';
import { emptyState, literal, moment, notice, rows, said } from '../../administrators/pages/parts.ts';
import type { Context, Outcome, Shown } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { DAY_MS } from '../../lib/time.ts';
import type { Directory } from '../../merchants/directory.ts';
import { MODE_NAMES } from '../../merchants/pages/merchant-keys.ts';
import { addressOfPayment } from '../../review/pages/panel.ts';
import { pager, records } from '../../web/markup/table.ts';
import { ENDPOINT_ACTS } from '../acts.ts';
import { resendDelivery } from '../deliver.ts';
import {
  type AttemptMade,
  DELIVERIES_KEPT_MS,
  DELIVERY_STATUSES,
  type Delivery,
  type DeliveryStatus,
  type Endpoint,
} from '../endpoint.ts';
import { disablesAt } from '../present.ts';
import {
  attemptsOf,
  findDelivery,
  findEndpoint,
  listDeliveries,
  type StandingEndpoint,
  searchEndpoints,
  standing,
} from '../queries.ts';

export const WEBHOOKS = '/webhooks';
const ENDPOINTS_SHOWN = 50;
const DELIVERIES_SHOWN = 50;
const ID_MAXIMUM = 100;

const DELIVERY_NAMES: Record<DeliveryStatus, string> = {
  pending: phrase('Not tried yet'),
  retrying: phrase('Will be tried again'),
  delivered: phrase('Delivered'),
  failed: phrase('Given up'),
};

/** Why an endpoint gets nothing. */
const DISABLED_BECAUSE: Record<NonNullable<Endpoint['disabled_reason']>, string> = {
  merchant: phrase('Its merchant disabled it.'),
  administrator: phrase('An administrator disabled it.'),
  operator: phrase('The operator disabled it.'),
  gone: phrase('Disabled because its server answered 410 Gone.'),
  failing: phrase('Disabled because no attempt succeeded for 5 days.'),
  secret_lost: phrase('Disabled because its secret is lost. Its merchant can create a new one.'),
};

/** The endpoint that the path names. Throws `not_found`. */
export async function endpointNamed({ database, params }: WebhookContext): Promise<Endpoint> {
  const endpoint = await findEndpoint(database, params.endpoint_id!);
  if (!endpoint) throw new OperationalError('not_found', 'There is no such webhook endpoint.');
  return endpoint;
}

/** The endpoints of all merchants, or of the one that `merchant` names. */
export async function webhooksPage(context: WebhookContext): Promise<Shown> {
  const { database, address, query, say } = context;
  const asked = askedOf(query, ['merchant', 'after'], ID_MAXIMUM);
  const { merchant, after } = asked;
  const found = await searchEndpoints(database, { merchant_id: merchant, after }, ENDPOINTS_SHOWN + 1);
  const shown = found.slice(0, ENDPOINTS_SHOWN);
  const above = merchant
    ? html`<a class="plain" href="${address(`/merchants/${merchant}`)}">${merchantName(context, merchant)}</a>`
    : html`<a class="plain" href="${address('/merchants')}">${say`Merchants`}</a>`;
  const content = html`<p>${above}</p>
<h1>${say`Webhooks`}</h1>
${
  shown.length === 0
    ? emptyState(
        'hook',
        merchant ? say`This merchant has no webhook endpoints.` : say`There are no webhook endpoints.`,
      )
    : endpointTable(context, shown)
}
${pager(
  after !== undefined && [say`First`, address(WEBHOOKS, { merchant })],
  found.length > ENDPOINTS_SHOWN && [say`Next`, address(WEBHOOKS, { merchant, after: shown.at(-1)!.id })],
  say`Pages`,
)}
<p class="muted">${say.html`Merchants add endpoints by the API: ${html`<code>POST /v1/webhook_endpoints</code>`}.`}</p>`;
  return { title: say`Webhooks`, content, place: '/merchants' };
}

const merchantName = ({ directory }: WebhookContext, id: string): Html =>
  said(directory.merchant(id)?.name ?? id);

const endpointAddress = ({ address }: WebhookContext, { id }: Pick<Endpoint, 'id'>) =>
  address(`${WEBHOOKS}/${id}`);

function endpointTable(context: WebhookContext, endpoints: readonly StandingEndpoint[]): Html {
  const { say } = context;
  return records<StandingEndpoint>(
    [
      [
        say`Endpoint`,
        (endpoint) =>
          html`<a class="plain" href="${endpointAddress(context, endpoint)}" data-key-row>${literal(endpoint.url)}</a>`,
      ],
      [say`Merchant`, ({ merchant_id }) => merchantName(context, merchant_id)],
      [say`Mode`, ({ mode }) => say.of(MODE_NAMES[mode])],
      [say`State`, (endpoint) => stateStamp(context, endpoint)],
      [
        say`Since`,
        ({ disabled_at, failing_since, created_at }) =>
          moment(context, disabled_at ?? failing_since ?? created_at),
      ],
    ],
    endpoints,
  );
}

function stateStamp({ say }: WebhookContext, { disabled_at, failing_since }: StandingEndpoint): Html {
  if (disabled_at !== null) return html`<span class="stamp rejected">${say`Disabled`}</span>`;
  if (failing_since !== null) return html`<span class="stamp requires_review">${say`Failing`}</span>`;
  return html`<span class="stamp approved">${say`Enabled`}</span>`;
}

/** One endpoint, what administrators can do about it, and its deliveries. */
export async function endpointPage(context: WebhookContext): Promise<Outcome> {
  const { database, address, query, say } = context;
  const endpoint = await standing(database, await endpointNamed(context));
  const asked = askedOf(query, ['status', 'before'], ID_MAXIMUM);
  const status = DELIVERY_STATUSES.find((one) => one === asked.status);
  const faults = asked.status !== undefined && !status ? { status: say`Choose one of the states` } : {};
  const found = await listDeliveries(database, endpoint.id, { status }, asked.before, DELIVERIES_SHOWN + 1);
  const shown = found.slice(0, DELIVERIES_SHOWN);
  const path = `${WEBHOOKS}/${endpoint.id}`;
  const states = DELIVERY_STATUSES.map((one) => [one, say.of(DELIVERY_NAMES[one])] as const);
  const links = actLinks(context, ENDPOINT_ACTS, endpoint);
  const content = html`<p><a class="plain" href="${address(WEBHOOKS)}">${say`Webhooks`}</a></p>
<div class="subject">
<p>${stateStamp(context, endpoint)}</p>
<h1>${literal(endpoint.url)}</h1>
</div>
${stateNotice(context, endpoint)}
${facts(context, endpoint)}
${links.length > 0 && html`<p class="actions">${links}</p>`}
<section class="block" aria-labelledby="deliveries-heading"><h2 id="deliveries-heading">${say`Deliveries`}</h2>
${filterBar(context, path, asked.status === undefined ? {} : { status: asked.status }, {
  fields: filterChoice(say, 'status', say`State`, states, asked.status, faults.status),
  button: say`Show`,
})}
${shown.length === 0 ? html`<p>${status ? say`There are no deliveries in this state.` : say`There are no deliveries.`}</p>` : deliveryTable(context, shown)}
${pager(
  asked.before !== undefined && [say`Newest`, address(path, { status })],
  found.length > DELIVERIES_SHOWN && [say`Older`, address(path, { status, before: shown.at(-1)!.id })],
  say`Pages`,
)}
<p class="muted">${say`Deliveries are kept for ${DELIVERIES_KEPT_MS / DAY_MS} days.`}</p>
</section>`;
  return { title: endpoint.url, content, place: '/merchants', faults };
}

function stateNotice(context: WebhookContext, endpoint: StandingEndpoint): Html | null {
  const { say } = context;
  if (endpoint.disabled_at !== null)
    return notice(
      html`<p>${say.of(DISABLED_BECAUSE[endpoint.disabled_reason!])} ${say.html`Since ${moment(context, endpoint.disabled_at)} nothing is sent to it. What happens meanwhile is sent once it is enabled.`}</p>${
        endpoint.disabled_note !== null &&
        html`<p>${say`Its merchant reads:`}</p><p class="words" dir="auto">${endpoint.disabled_note}</p>`
      }`,
      'warn',
    );
  const disables = disablesAt(endpoint);
  if (disables === null) return null;
  return notice(
    html`<p>${say.html`Every attempt has failed since ${moment(context, endpoint.failing_since!)}. If none succeeds, it is disabled on ${moment(context, disables)}.`}</p>`,
    'warn',
  );
}

function facts(context: WebhookContext, endpoint: Endpoint): Html {
  const { address, now, say } = context;
  const types: string[] | null = endpoint.types === null ? null : JSON.parse(endpoint.types);
  const { old_secret_until } = endpoint;
  return rows([
    [say`Id`, literal(endpoint.id)],
    [
      say`Merchant`,
      html`<a class="plain" href="${address(`/merchants/${endpoint.merchant_id}`)}">${merchantName(context, endpoint.merchant_id)}</a>`,
    ],
    [say`Mode`, say.of(MODE_NAMES[endpoint.mode])],
    [say`Events`, types === null ? say`All` : literal(types.join(', '))],
    [say`Description`, endpoint.description && said(endpoint.description)],
    [say`Added`, moment(context, endpoint.created_at)],
    [say`Secret created`, moment(context, endpoint.secret_made_at)],
    [
      say`Previous secret`,
      old_secret_until !== null && old_secret_until > now
        ? say.html`also signs until ${moment(context, old_secret_until)}`
        : null,
    ],
  ]);
}

function deliveryTable(context: WebhookContext, deliveries: readonly Delivery[]): Html {
  const { address, say } = context;
  return records<Delivery>(
    [
      [
        say`Event`,
        ({ id, endpoint_id, type }) =>
          html`<a class="plain" href="${address(`${WEBHOOKS}/${endpoint_id}/deliveries/${id}`)}" data-key-row>${literal(type)}</a>`,
      ],
      [say`Queued`, ({ created_at }) => moment(context, created_at)],
      [say`State`, ({ status }) => html`<span>${say.of(DELIVERY_NAMES[status])}</span>`],
      [say`Next attempt`, ({ due_at }) => (due_at === null ? '–' : moment(context, due_at))],
      [say`Attempts`, ({ attempts }) => attempts, 'number'],
    ],
    deliveries,
  );
}

/** The delivery that the path names, of the endpoint that it names. Throws `not_found`. */
async function deliveryNamed(context: WebhookContext): Promise<{ endpoint: Endpoint; delivery: Delivery }> {
  const endpoint = await endpointNamed(context);
  const delivery = await findDelivery(context.database, context.params.delivery_id!, endpoint);
  if (delivery?.endpoint_id !== endpoint.id)
    throw new OperationalError('not_found', 'There is no such delivery. They are kept for 30 days.');
  return { endpoint, delivery };
}

export async function deliveryPage(context: WebhookContext): Promise<Outcome> {
  const { database, address, principal, token, say } = context;
  const { endpoint, delivery } = await deliveryNamed(context);
  const attempts = await attemptsOf(database, [delivery.id]);
  const maySend = may(principal.role, 'administer') && endpoint.disabled_at === null;
  const again = address(`${WEBHOOKS}/${endpoint.id}/deliveries/${delivery.id}/resend`);
  const content = html`<p><a class="plain" href="${endpointAddress(context, endpoint)}">${literal(endpoint.url)}</a></p>
<h1>${literal(delivery.type)}</h1>
${rows([
  [say`State`, say.of(DELIVERY_NAMES[delivery.status])],
  [
    say`Payment`,
    html`<a class="plain" href="${addressOfPayment(context, delivery.payment_id)}">${literal(delivery.payment_id)}</a>`,
  ],
  [say`Event`, literal(delivery.event_id)],
  [say`Delivery`, literal(delivery.id)],
  [say`Queued`, moment(context, delivery.created_at)],
  [say`Next attempt`, delivery.due_at === null ? null : moment(context, delivery.due_at)],
])}
${
  maySend &&
  html`<form method="post" action="${again}">${token}<p class="actions"><button class="secondary">${say`Send again now`}</button></p></form>`
}
<section class="block" aria-labelledby="attempts-heading"><h2 id="attempts-heading">${say`Attempts`}</h2>
${attempts.length === 0 ? html`<p>${say`None was made yet.`}</p>` : attemptTable(context, attempts)}
</section>`;
  return { title: delivery.type, content, place: '/merchants' };
}

function attemptTable(context: WebhookContext, attempts: readonly AttemptMade[]): Html {
  const { say } = context;
  return records<AttemptMade>(
    [
      [say`Attempt`, ({ number }) => number],
      [say`Time`, ({ at }) => moment(context, at)],
      [say`Result`, ({ reason }) => html`<span lang="en">${reason}</span>`],
      [
        say`Answer of the server`,
        ({ reply }) =>
          reply === null || reply === ''
            ? '–'
            : html`<details><summary>${say`Show`}</summary><pre class="code" dir="auto" translate="no">${reply}</pre></details>`,
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

export interface WebhookParts {
  directory: Directory;
}

export type WebhookContext = Context & WebhookParts;
