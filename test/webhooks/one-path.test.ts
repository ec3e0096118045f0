// Test events, deliveries and resends go one way: in production none of them connects to what is not public.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { type Harness, LIVE_KEY, startHarness } from '../support/harness.ts';
import { eventually } from '../support/waiting.ts';

/** `localhost` is resolved without a name server. */
const HOST = 'localhost';
const REASON = `The name ${HOST} does not lead to public addresses`;

/** Connections to the endpoint's port that this process tried to make. */
const attempted: string[] = [];
const watch = (message: unknown) =>
  (message as { socket: Socket }).socket.on('connectionAttempt', (address, port) => {
    if (port === 443) attempted.push(address);
  });

let service: Harness;
before(async () => {
  subscribe('net.client.socket', watch);
  service = await startHarness('sqlite', { environment: 'production' });
});
after(async () => {
  unsubscribe('net.client.socket', watch);
  await service.close();
});

const call = async (method: string, path: string, body?: object) => {
  const answer = await service.request(`/v1/${path}`, { method, key: LIVE_KEY, body });
  assert.ok(answer.status < 300, answer.text);
  return answer.json.data;
};

test('a name that leads to this machine is refused to a test event, a delivery, its retries and each resend.', async () => {
  const { id } = await call('POST', 'webhook_endpoints', { url: `https://${HOST}/hook` });
  const { delivered, reason } = await call('POST', `webhook_endpoints/${id}/test`);
  assert.deepEqual([delivered, reason], [false, REASON]);
  service.clock.stop(); // no attempt comes by itself
  await call('POST', 'payments', { amount: 1, expires_in: 5_000_000 });
  let delivery = '';
  const tried = (count: number) =>
    eventually(async () => {
      const [one] = await call('GET', `webhook_endpoints/${id}/deliveries`);
      delivery = one?.id;
      return one?.attempt_count === count;
    });
  await tried(1);
  service.clock.advance(10_000);
  await tried(2);
  await call('POST', `deliveries/${delivery}/resend`);
  await tried(3);
  const since = new Date(service.clock.now() - 3_600_000).toISOString();
  await call('POST', `webhook_endpoints/${id}/resend`, { what: 'failed', since });
  await tried(4);
  const { attempts } = await call('GET', `deliveries/${delivery}`);
  for (const one of attempts) assert.deepEqual([one.status, one.reason, one.reply], [null, REASON, null]);
  assert.deepEqual(attempted, []);
});
