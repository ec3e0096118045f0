// The pages of webhooks for the gallery: one endpoint that fails, one that is disabled, and what is asked about them.
import assert from 'node:assert/strict';
import type { Scene } from '../../operate/pages/gallery.ts';
import type { Client } from '../../support/console.ts';
import type { Harness } from '../../support/harness.ts';
import { createAt, KEYS } from '../../support/shop.ts';
import { eventually } from '../../support/waiting.ts';

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
  const key = KEYS.transfer;
  const add = async (path: string, description: string): Promise<string> => {
    const body = { url: `${DEAD}${path}`, description };
    const answer = await harness.request('/v1/webhook_endpoints', { method: 'POST', body, key });
    assert.equal(answer.status, 201, answer.text);
    return answer.json.data.id;
  };
  const failing = await add(`/orders/${'very-long-path-'.repeat(8)}`, 'Orders, to the till & the books');
  const disabled = await add('/old', 'The old shop');
  const question = await ana.get(`/webhooks/${disabled}/disable`);
  await ana.send(question, { reason: 'It answers with our own checkout.' }, 'Disable the endpoint');
  await createAt(harness, 'transfer', { amount: 12 });
  const deliveries = async () =>
    (await harness.request(`/v1/webhook_endpoints/${failing}/deliveries`, { key })).json.data;
  await eventually(async () => (await deliveries())[0]?.status === 'retrying');
  const [{ id: delivery }] = await deliveries();
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
      await page.locator('main').getByRole('button', { name }).click();
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
