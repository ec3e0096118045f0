// The pages of webhooks for the gallery: one endpoint that fails, one that is disabled, and what is asked about them.
import type { Scene } from '../../operate/pages/gallery.ts';
import { press } from '../../support/chromium.ts';
import type { Client } from '../../support/console.ts';
import type { Harness } from '../../support/harness.ts';
import { createAt, KEYS } from '../../support/shop.ts';
import { until } from '../../support/waiting.ts';
import { endpointsOf, type Shown } from '../../support/webhook-endpoints.ts';

/** Nobody listens there: each attempt fails at once. */
const DEAD = 'http://localhost:9';

export interface WebhookStage {
  failing: string;
  disabled: string;
  /** A delivery to the endpoint that fails. */
  delivery: string;
}

/** Adds the endpoints, and waits for a first attempt that fails. */
export async function addWebhooks(harness: Harness, ana: Client): Promise<WebhookStage> {
  const { add, deliveries } = endpointsOf(harness, (path) => `${DEAD}${path}`, KEYS.transfer);
  const long = `/orders/${'very-long-path-'.repeat(8)}`;
  const { id: failing } = await add(long, { description: 'Orders, to the till & the books' });
  const { id: disabled } = await add('/old', { description: 'The old shop' });
  const question = await ana.get(`/webhooks/${disabled}/disable`);
  await ana.send(question, { reason: 'It answers with our own checkout.' }, 'Disable the endpoint');
  await createAt(harness, 'transfer', { amount: 12 });
  const [{ id: delivery }] = await until(
    async () => (await deliveries(failing)) as [Shown],
    ([newest]) => newest?.status === 'retrying',
  );
  return { failing, disabled, delivery };
}

export function webhookScenes(
  { failing, disabled, delivery }: WebhookStage,
  ana: Client,
  olga: Client,
): Scene[] {
  const pressed =
    (name: string): NonNullable<Scene['steps']> =>
    async (page) => {
      await press(name)(page);
      await page.waitForSelector('.error');
    };
  return [
    { name: 'webhooks', path: '/webhooks', who: ana },
    { name: 'webhooks, none of a merchant', path: '/webhooks?merchant=mer_cash', who: ana },
    { name: 'webhook, failing', path: `/webhooks/${failing}`, who: ana },
    { name: 'webhook, disabled', path: `/webhooks/${disabled}`, who: ana },
    { name: 'webhook, an auditor', path: `/webhooks/${failing}`, who: olga },
    { name: 'webhook, filtered wrongly', path: `/webhooks/${failing}?status=lost`, who: ana, status: 422 },
    {
      name: 'webhook, to disable',
      path: `/webhooks/${failing}/disable`,
      who: ana,
      status: 422,
      steps: pressed('Disable the endpoint'),
    },
    { name: 'webhook, to enable', path: `/webhooks/${disabled}/enable`, who: ana },
    { name: 'webhook, to send again', path: `/webhooks/${failing}/resend`, who: ana },
    { name: 'webhook delivery', path: `/webhooks/${failing}/deliveries/${delivery}`, who: ana },
  ];
}
