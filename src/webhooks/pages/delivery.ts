// One webhook delivery with its attempts, and the button that sends it again.
import { may } from '../../administrators/administrator.ts';
import { literal, moment, rows } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { addressOfPayment } from '../../review/pages/panel.ts';
import { records } from '../../web/markup/table.ts';
import type { AttemptMade, Delivery } from '../delivery.ts';
import { attemptsOf, findDelivery } from '../delivery-queries.ts';
import type { Endpoint } from '../endpoint.ts';
import { resendDelivery } from '../resend.ts';
import type { WebhookContext } from './context.ts';
import { DELIVERY_NAMES, endpointAddress, endpointNamed, WEBHOOKS } from './webhooks.ts';

/** The delivery that the path names, of the endpoint that it names. Throws `not_found`. */
async function deliveryNamed(context: WebhookContext): Promise<{ endpoint: Endpoint; delivery: Delivery }> {
  const endpoint = await endpointNamed(context);
  const delivery = await findDelivery(context.database, endpoint, context.params.delivery_id!);
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
