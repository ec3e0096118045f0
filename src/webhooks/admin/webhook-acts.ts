// What administrators do about webhook endpoints under /admin: disable with a reason, enable, send again.

import { z } from 'zod';
import { administratorActOf } from '../../administrators/admin/authenticate.ts';
import type { AdminParts } from '../../administrators/admin/parts.ts';
import { soundText } from '../../lib/faults.ts';
import { REASON_MAXIMUM, reasonFault } from '../../merchants/suspend.ts';
import { type ApiEndpoint, endpoint } from '../../web/endpoint.ts';
import { disableEndpoint, enableEndpoint } from '../change.ts';
import { presentResend, resend, resendAnswerSchema, resendDelivery, resendRequestSchema } from '../resend.ts';
import {
  anyDelivery,
  anyEndpoint,
  DELIVERY_ANSWER,
  deliveryText,
  ENDPOINT_ANSWER,
  endpointText,
} from './webhooks.ts';

/** `POST /admin/webhook_endpoints/{id}/disable`. */
const disableRequestSchema = z.strictObject(
  {
    reason: soundText(REASON_MAXIMUM, reasonFault, { trims: true }).describe(
      'Why. The merchant reads it as `disabled_note`.',
    ),
  },
  'Must be a JSON object.',
);

const ROLE = '403 `forbidden`: the role of the token is not administrator.';
const ERRORS = ['forbidden', 'not_found'] as const;

/** The endpoints that change endpoints and send again. */
export const webhookActs = ({ database, journal, clock }: AdminParts): ApiEndpoint[] => [
  endpoint('POST /admin/webhook_endpoints/{endpoint_id}/disable', {
    id: 'disableWebhookEndpointOfMerchant',
    summary: 'Disable a webhook endpoint',
    description: `Nothing is sent to it until an administrator enables it. What happens meanwhile is kept. A repeated call changes nothing. ${ROLE}`,
    may: 'administer',
    body: ['EndpointDisabling', disableRequestSchema],
    prefers: false,
    answers: { 200: { description: 'Done.', body: ENDPOINT_ANSWER } },
    errors: ERRORS,
    async handle({ request, body: { reason } }) {
      const { id } = await anyEndpoint(database, request);
      const act = administratorActOf(request);
      return journal.commit(
        async (transaction) =>
          endpointText(transaction, await disableEndpoint(transaction, id, 'administrator', act, reason)),
        id,
      );
    },
  }),
  endpoint('POST /admin/webhook_endpoints/{endpoint_id}/enable', {
    id: 'enableWebhookEndpointOfMerchant',
    summary: 'Enable a webhook endpoint',
    description: `What happened while it was disabled is sent now. 409 \`invalid_status\`: its secret is lost. A request body is ignored. A repeated call changes nothing. ${ROLE}`,
    may: 'administer',
    answers: { 200: { description: 'Done.', body: ENDPOINT_ANSWER } },
    errors: [...ERRORS, 'invalid_status'],
    async handle({ request }) {
      const { id } = await anyEndpoint(database, request);
      return journal.commit(
        async (transaction) =>
          endpointText(transaction, await enableEndpoint(transaction, id, administratorActOf(request))),
        id,
      );
    },
  }),
  endpoint('POST /admin/webhook_endpoints/{endpoint_id}/resend', {
    id: 'resendDeliveriesOfMerchant',
    summary: 'Send again what an endpoint did not take, or what it is missing',
    description: `What was delivered is not sent again. 409 \`invalid_status\`: the endpoint is disabled. ${ROLE}`,
    may: 'administer',
    body: ['StrictResendRequest', resendRequestSchema(() => clock.now()).strict()],
    prefers: false,
    answers: { 200: { description: 'Done.', body: ['ResendAnswer', resendAnswerSchema] } },
    errors: [...ERRORS, 'invalid_status'],
    async handle({ request, body: { what, since: text } }) {
      const { id } = await anyEndpoint(database, request);
      const since = Date.parse(text);
      const act = administratorActOf(request);
      const deliveries = await journal.commit((one) => resend(one, id, what, since, act), id);
      return JSON.stringify({ data: presentResend(what, since, deliveries) });
    },
  }),
  endpoint('POST /admin/deliveries/{delivery_id}/resend', {
    id: 'resendDeliveryOfMerchant',
    summary: 'Send a delivery again now, also one that was delivered',
    description: `The schedule of its attempts begins anew. 409 \`invalid_status\`: the endpoint is disabled. A request body is ignored. ${ROLE}`,
    may: 'administer',
    answers: { 200: { description: 'Done.', body: DELIVERY_ANSWER } },
    errors: [...ERRORS, 'invalid_status'],
    async handle({ request }) {
      const delivery = await anyDelivery(database, request);
      return journal.commit(
        async (transaction) => deliveryText(transaction, await resendDelivery(transaction, delivery)),
        delivery.endpoint_id,
      );
    },
  }),
];
