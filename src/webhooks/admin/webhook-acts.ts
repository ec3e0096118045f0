// What administrators do about webhook endpoints under /admin: disable with a reason, enable, send again.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { administratorActOf } from '../../administrators/admin/authenticate.ts';
import type { AdminParts } from '../../administrators/admin/parts.ts';
import { parsedBy } from '../../lib/faults.ts';
import { REASON_MAXIMUM, reasonFault } from '../../merchants/suspend.ts';
import { bodyOf, ignoreBody, objectIn, takeJson } from '../../web/json-body.ts';
import { disableEndpoint, enableEndpoint } from '../change.ts';
import { presentResend, resend, resendDelivery, resendRequestSchema } from '../resend.ts';
import {
  anyDelivery,
  anyEndpoint,
  deliveryText,
  endpointText,
  type WithDeliveryId,
  type WithEndpointId,
} from './webhooks.ts';

/** `POST /admin/webhook_endpoints/{id}/disable`. */
export const disableRequestSchema = z.strictObject(
  {
    reason: z
      .string('Must be a string.')
      .trim()
      .check(({ value, issues }) => {
        const fault = reasonFault(value);
        if (fault) issues.push({ code: 'custom', message: fault, input: value });
      })
      .meta({ maxLength: REASON_MAXIMUM })
      .describe('Why. The merchant reads it as `disabled_note`.'),
  },
  'Must be a JSON object.',
);

/** `POST /admin/webhook_endpoints/{id}/resend`. `now` in milliseconds since 1970. */
export const strictResendSchema = (now: () => number) => resendRequestSchema(now).strict();

/** Adds the routes to `app`, whose requests carry a principal that may administer by now. */
export function addWebhookActs(app: FastifyInstance, parts: AdminParts): void {
  const { database, journal, clock } = parts;
  const resendSchema = strictResendSchema(() => clock.now());

  async function disable(request: FastifyRequest<WithEndpointId>) {
    const { reason } = parsedBy(disableRequestSchema, objectIn(bodyOf(request)));
    const { id } = await anyEndpoint(database, request);
    const act = administratorActOf(request);
    return journal.commit(
      async (transaction) =>
        endpointText(transaction, await disableEndpoint(transaction, id, 'administrator', act, reason)),
      id,
    );
  }

  async function enable(request: FastifyRequest<WithEndpointId>) {
    const { id } = await anyEndpoint(database, request);
    return journal.commit(
      async (transaction) =>
        endpointText(transaction, await enableEndpoint(transaction, id, administratorActOf(request))),
      id,
    );
  }

  async function sendAgain(request: FastifyRequest<WithEndpointId>) {
    const { what, since: text } = parsedBy(resendSchema, objectIn(bodyOf(request)));
    const { id } = await anyEndpoint(database, request);
    const since = Date.parse(text);
    const deliveries = await journal.commit(
      (transaction) => resend(transaction, id, what, since, administratorActOf(request)),
      id,
    );
    return JSON.stringify({ data: presentResend(what, since, deliveries) });
  }

  async function sendOneAgain(request: FastifyRequest<WithDeliveryId>) {
    const delivery = await anyDelivery(database, request);
    return journal.commit(
      async (transaction) => deliveryText(transaction, await resendDelivery(transaction, delivery)),
      delivery.endpoint_id,
    );
  }

  app.register(async (scope) => {
    takeJson(scope);
    scope.post('/webhook_endpoints/:endpoint_id/disable', disable);
    scope.post('/webhook_endpoints/:endpoint_id/resend', sendAgain);
  });
  app.register(async (scope) => {
    ignoreBody(scope);
    scope.post('/webhook_endpoints/:endpoint_id/enable', enable);
    scope.post('/deliveries/:delivery_id/resend', sendOneAgain);
  });
}
