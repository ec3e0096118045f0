// A suspended merchant: refused by every node within a second, its customers told so, its state tied to the history.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { HistoryBroken } from '../../src/journal/verify.ts';
import { type Nodes, startNodes } from '../campaigns/nodes.ts';
import { cutNothing } from '../support/clockwork.ts';
import { open, send } from '../support/customer.ts';
import { ask, KEY, OTHER_KEY } from '../support/harness.ts';
import { handedIn, heldUp } from '../support/journal.ts';
import { setState } from '../support/store-merchant.ts';
import { becomes } from '../support/waiting.ts';

const headers = (key: string) => ({ authorization: `Bearer ${key}` });

describe('a suspended merchant', () => {
  let nodes: Nodes;
  before(async () => {
    nodes = await startNodes('postgres');
    cutNothing(nodes.harness);
  });
  after(() => nodes.close());
  /** By the node that asks last: the other one hears of it. */
  const change = (act: 'suspended' | 'resumed') =>
    setState({ service: nodes.services.at(-1)! }, 'mer_development', act);
  /** Answers when every node does so. */
  const everywhere = (wanted: number) =>
    becomes(
      nodes.origins.map(() => wanted),
      () => Promise.all(nodes.origins.map(async (origin) => (await ask(origin, '/v1/payments')).status)),
    );

  test('Every node refuses its keys within a second, and its customers cannot pay; others go on.', async () => {
    const { harness } = nodes;
    const { id } = await harness.create();
    const done = await harness.create();
    const pending = await open(harness, id);
    await send(await open(harness, done.id, { view: 'cancel' }));
    const slow = httpRequest(`${nodes.origins[0]}/v1/payments`, {
      method: 'POST',
      headers: { ...headers(KEY), 'content-type': 'application/json', 'content-length': '12' },
    });
    const { server } = nodes.services[0]!.app;
    const arrived = once(server, 'request');
    slow.write('{"amount"');
    await arrived;
    assert.equal((await harness.request('/v1/payments')).status, 200); // which is judged after it
    await change('suspended');
    await everywhere(403);
    await sleep(501); // a body that took less is not asked about again
    slow.end(':1}');
    const [late] = (await once(slow, 'response')) as [IncomingMessage];
    assert.equal(late.resume().statusCode, 403, 'what came meanwhile is not too late to refuse');
    const { json } = await harness.request('/v1/payments', { method: 'POST', body: { amount: 1 } });
    assert.equal(json.error.code, 'forbidden');
    assert.equal((await harness.request('/v1/payments', { key: OTHER_KEY })).status, 200);
    for (const page of [await open(harness, id), await send(pending)]) {
      assert.equal(page.status, 403);
      assert.equal(page.h1, 'This payment cannot be made at the moment');
    }
    assert.match((await open(harness, id, { lang: 'de' })).h1, /zurzeit nicht möglich/);
    assert.equal((await open(harness, done.id)).h1, 'This payment was cancelled');
    await assert.rejects(change('suspended'), { code: 'invalid_status' });
    await harness.verify();
  });

  test('A node that starts knows it, and a reason let go is kept.', async () => {
    await nodes.harness.stop();
    await nodes.harness.start();
    nodes.services[0] = nodes.harness.service;
    nodes.origins[0] = nodes.harness.origin;
    assert.equal((await nodes.harness.request('/v1/payments')).status, 403);
    await change('resumed');
    await everywhere(200);
    await nodes.harness.verify();
  });

  test('Two administrators at once: one suspends, the other is told.', async () => {
    const results = await Promise.allSettled(
      nodes.services.flatMap((service) => [1, 2].map(() => setState({ service }, 'mer_other', 'suspended'))),
    );
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const one of results)
      if (one.status === 'rejected') assert.equal(one.reason.code, 'invalid_status', String(one.reason));
    await nodes.harness.verify();
  });

  test('A key of a suspended merchant makes no other, though its request came before the node heard of it.', async () => {
    const { journal } = nodes.services[0]!;
    const { go } = await heldUp(journal);
    const suspended = setState({ service: nodes.services[0]! }, 'mer_development', 'suspended');
    const isWaiting = handedIn(journal);
    const late = nodes.harness.request('/v1/api_keys', { method: 'POST', body: {} });
    await isWaiting;
    go();
    await suspended;
    const { status, json } = await late;
    assert.deepEqual([status, json.error.code], [403, 'forbidden']);
  });

  test('A state that somebody changed behind its back is found.', async () => {
    const { database } = nodes.services[0]!;
    await database.script("update merchants set suspended_at = null where id = 'mer_other'");
    await assert.rejects(nodes.harness.verify(), HistoryBroken);
  });
});
