// The settings of the webhook endpoints that the file holds, and of where webhooks may be sent.
import { z } from 'zod';
import { EVENT_TYPES } from '../../payments/events/event.ts';
import { type AddressRules, checkUrl, DEVELOPMENT_RULES } from '../../webhooks/addresses.ts';
import type { ConfiguredEndpoint } from '../../webhooks/change.ts';
import { ENDPOINTS_MAXIMUM } from '../../webhooks/endpoint.ts';
import type { webhooksSchema } from './operation.ts';

export const merchantWebhookSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[0-9a-z_]{1,40}$/, 'must be up to 40 of 0-9, a-z and _')
    .describe('A name of its own for the endpoint; with another name it is another endpoint.')
    .meta({ check: 'up to 40 of 0-9, a-z and _; used once' }),
  url: z.string().describe('Where events are sent.').meta({ check: 'https URL with a host name' }),
  types: z
    .array(z.enum(EVENT_TYPES))
    .min(1)
    .optional()
    .describe('The types of events that are sent; all when left out.')
    .meta({ check: 'types of events' }),
  mode: z
    .enum(['live', 'test'])
    .default('test')
    .describe('Whether events of real payments or of test payments are sent.'),
});

export const merchantWebhooksSchema = z.array(merchantWebhookSchema).max(ENDPOINTS_MAXIMUM).default([]);

interface WebhookSettings {
  environment: 'production' | 'development';
  webhooks: z.output<typeof webhooksSchema>;
  merchants: readonly { id: string; webhooks: z.output<typeof merchantWebhooksSchema> }[];
}

/** Where webhooks may be sent. In development also to this machine and private networks, over plain http. */
export function webhookRules({
  environment,
  webhooks,
}: Pick<WebhookSettings, 'environment' | 'webhooks'>): AddressRules {
  const { allowed_networks, ports, proxy } = webhooks;
  const own = { allowHttp: false, allowedNetworks: allowed_networks, ports };
  const rules =
    environment === 'production'
      ? own
      : {
          ...DEVELOPMENT_RULES,
          allowedNetworks: [...DEVELOPMENT_RULES.allowedNetworks, ...allowed_networks],
        };
  return { ...rules, ...(proxy !== null && { proxy }) };
}

/** The endpoints of all merchants of the file. Throws what `fail` makes. */
export function endpointsOf(
  settings: WebhookSettings,
  fail: (path: readonly PropertyKey[], problem: string) => Error,
): ConfiguredEndpoint[] {
  const rules = webhookRules(settings);
  return settings.merchants.flatMap(({ id: merchant_id, webhooks }, m) =>
    webhooks.map(({ id: name, url, types, mode }, w) => {
      const path = ['merchants', m, 'webhooks', w];
      const fault = checkUrl(url, rules);
      if (fault) throw fail([...path, 'url'], fault.replace(/^M/, 'm').replace(/\.$/, ''));
      if (webhooks.slice(0, w).some(({ id }) => id === name)) throw fail([...path, 'id'], 'is used twice');
      const written = types === undefined ? null : JSON.stringify([...new Set(types)]);
      const kept = settings.environment === 'development' ? ('test' as const) : mode;
      return { merchant_id, mode: kept, name, url, types: written };
    }),
  );
}
