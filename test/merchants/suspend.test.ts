// A suspended merchant: refused by every node within a second, its customers told so, its state tied to the history.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { HistoryBroken } from '../../src/journal/verify.ts';
import { takeTurn } from '../../src/merchants/api-keys.ts';
import { changeMerchantState } from '../../src/merchants/change.ts';
import { type Nodes, startNodes } from '../campaigns/nodes.ts';
import { open, send } from '../support/customer.ts';
import { ask, KEY, OTHER_KEY } from '../support/harness.ts';
import { becomes } from '../support/waiting.ts';

const WHO = { actor: 'administrator:adm_test', by: 'adm_test', request_id: null };
const headers = (key: string) => ({ authorization: `Bearer ${key}` });

describe('a suspended merchant', () => {
  let nodes: Nodes;
  before(async () => {
    nodes = await startNodes('postgres');
  });
  after(() => nodes.close());
  const change = (act: 'suspended' | 'resumed', reason: string) =>
    changeMerchantState(nodes.services[0]!.journal, 'mer_development', act, WHO, reason);
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
    slow.write('{"amount"');
    await sleep(100); // until its headers are judged
    await change('suspended', 'Under inquiry');
    await everywhere(403);
    await sleep(500); // a body that took less is not asked about again
    slow.end(':1}');
    const [late] = (await once(slow, 'response')) as [IncomingMessage];
    assert.equal(late.resume().statusCode, 403, 'what came meanwhile is not too late to refuse');
    const { json } = await harness.request('/v1/payments', { method: 'POST', body: { amount: 1 } });
    assert.equal(json.error.code, 'forbidden');
    assert.equal(json.error.message, 'This merchant is suspended. Ask the operator of this service.');
    assert.equal((await harness.request('/v1/payments', { key: OTHER_KEY })).status, 200);
    for (const page of [await open(harness, id), await send(pending)]) {
      assert.equal(page.status, 403);
      assert.equal(page.h1, 'This payment cannot be made at the moment');
    }
    assert.match((await open(harness, id, { lang: 'de' })).h1, /zurzeit nicht möglich/);
    assert.equal((await open(harness, done.id)).h1, 'This payment was cancelled');
    await assert.rejects(change('suspended', 'Again'), { code: 'invalid_status' });
    await harness.verify();
  });

  test('A node that starts knows it, and a reason let go is kept.', async () => {
    await nodes.harness.stop();
    await nodes.harness.start();
    nodes.services[0] = nodes.harness.service;
    nodes.origins[0] = nodes.harness.origin;
    assert.equal((await nodes.harness.request('/v1/payments')).status, 403);
    await change('resumed', 'All is well');
    await everywhere(200);
    await nodes.harness.verify();
  });

  test('Two administrators at once: one suspends, the other is told.', async () => {
    const results = await Promise.allSettled(
      nodes.services.flatMap(({ journal }) =>
        ['One', 'Two'].map((reason) => changeMerchantState(journal, 'mer_other', 'suspended', WHO, reason)),
      ),
    );
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const one of results)
      if (one.status === 'rejected') assert.equal(one.reason.code, 'invalid_status', String(one.reason));
    await nodes.harness.verify();
  });

  test('A key of a suspended merchant makes no other, though its request came before the node heard of it.', async () => {
    const { journal, directory } = nodes.services[0]!;
    const { key } = directory.find(KEY, nodes.harness.clock.now())!;
    const act = { actor: 'merchant:mer_development', request_id: null, key };
    await journal.commit((transaction) => takeTurn(transaction, 'mer_development', act));
    await change('suspended', 'Again');
    const late = journal.commit((transaction) => takeTurn(transaction, 'mer_development', act));
    await assert.rejects(late, { code: 'forbidden' });
  });

  test('A state that somebody changed behind its back is found.', async () => {
    const { database } = nodes.services[0]!;
    await database.script("update merchants set suspended_at = null where id = 'mer_other'");
    await assert.rejects(nodes.harness.verify(), HistoryBroken);
  });
});
