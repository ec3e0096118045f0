// Idempotency keys: the first answer again, byte for byte, for the same merchant, mode, route and request.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DAY_MS } from '../../../src/lib/time.ts';
import { startNodes } from '../../campaigns/nodes.ts';
import {
  type Answer,
  ask,
  type Harness,
  KEY,
  LIVE_KEY,
  OTHER_KEY,
  sharedHarness,
  startHarness,
  TEST_KEY_IN_PRODUCTION,
} from '../../support/harness.ts';
import { heldUp } from '../../support/journal.ts';
import { ENGINES } from '../../support/stores.ts';
import { until } from '../../support/waiting.ts';
import { encodeRequest, exchange, parseAnswers } from '../../support/wire-client.ts';

/** A twin is waited for so long, and some. */
const WAITED_MS = 1900;

for (const engine of ENGINES) {
  describe(`idempotency keys on ${engine}`, () => {
    const service = sharedHarness(engine);

    const create = (idempotencyKey: string, body: unknown = { amount: 1 }, key?: string) =>
      service.request('/v1/payments', {
        method: 'POST',
        body,
        headers: { 'idempotency-key': idempotencyKey },
        ...(key ? { key } : {}),
      });
    const cancel = (idempotencyKey: string, id: string) =>
      service.request(`/v1/payments/${id}/cancel`, {
        method: 'POST',
        headers: { 'idempotency-key': idempotencyKey },
      });
    const isReplay = (answer: Answer) => answer.headers.get('idempotency-replayed') === 'true';

    test('the same key and body get the same bytes and Location again, marked as a replay, and one payment.', async () => {
      const body = { amount: 5, merchant_reference: 'replayed' };
      const first = await create('replay', body);
      await service.request(`/v1/payments/${first.json.data.id}/cancel`, { method: 'POST' });
      service.clock.advance(2 * DAY_MS);
      const second = await create('replay', body);
      assert.equal(second.status, 201);
      assert.equal(second.text, first.text);
      assert.equal(second.headers.get('location'), first.headers.get('location'));
      assert.deepEqual([isReplay(first), isReplay(second)], [false, true]);
      assert.notEqual(second.headers.get('x-request-id'), first.headers.get('x-request-id'));
      assert.equal((await service.request('/v1/payments?merchant_reference=replayed')).json.data.length, 1);
    });

    test('of twenty requests with one key at once one makes a payment, and all get its answer.', async () => {
      // One that has waited as long as the service lets it is told to come again.
      const settled = () =>
        until(
          () => create('at once'),
          ({ status }) => status !== 409,
        );
      const answers = await Promise.all(Array.from({ length: 20 }, settled));
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter((answer) => !isReplay(answer)).length, 1);
      await service.verify();
    });

    test('a replay survives a restart.', async () => {
      const first = await create('restart');
      await service.stop();
      await service.start();
      assert.equal((await create('restart')).text, first.text);
    });

    test('the same key with another body, by one byte, is idempotency_key_reused.', async () => {
      await create('other', '{"amount":1}');
      const answer = await create('other', '{"amount":1 }');
      assert.equal(answer.status, 422);
      assert.equal(answer.json.error.code, 'idempotency_key_reused');
      assert.equal('details' in answer.json.error, false);
    });

    test('an error does not bind the key.', async () => {
      assert.equal((await create('late', { amount: 0 })).status, 422);
      assert.equal((await create('late', '{')).status, 400);
      const answer = await create('late', { amount: 2 });
      assert.equal(answer.status, 201);
      assert.equal(isReplay(answer), false);
      const { id } = answer.json.data;
      assert.equal((await cancel('late cancel', `pay_${'0'.repeat(36)}`)).status, 404);
      assert.equal((await cancel('late cancel', id)).status, 200);
    });

    test('a cancel is replayed as the success it was; another payment under its key is idempotency_key_reused.', async () => {
      const [one, two] = [await service.create(), await service.create()];
      const first = await cancel('cancel', one.id);
      const second = await cancel('cancel', one.id);
      assert.equal(second.status, 200);
      assert.equal(second.text, first.text);
      assert.ok(isReplay(second));
      assert.equal((await cancel('cancel again', one.id)).status, 409);
      assert.equal((await cancel('cancel', two.id)).json.error.code, 'idempotency_key_reused');
    });

    test('the same key of another merchant or route is another key.', async () => {
      const mine = await create('shared');
      const theirs = await create('shared', { amount: 1 }, OTHER_KEY);
      assert.equal(theirs.status, 201);
      assert.ok(!isReplay(theirs));
      assert.notEqual(theirs.json.data.id, mine.json.data.id);
      assert.equal((await cancel('shared', mine.json.data.id)).status, 200);
    });

    test('a request with two keys, equal ones too, is refused by name with its other faults, and nothing is done.', async () => {
      const merchant_reference = 'two-keys';
      const { id } = await service.create({ merchant_reference });
      const send = (method: string, path: string, keys: string[], body?: object) =>
        wire(service, method, path, keys, body);
      for (const keys of [
        ['a', 'b'],
        ['a', 'a'],
      ]) {
        const created = await send('POST', '/v1/payments', keys, { amount: 1, merchant_reference });
        const cancelled = await send('POST', `/v1/payments/${id}/cancel`, keys);
        for (const { status, body } of [created, cancelled])
          assert.deepEqual([status, Object.keys(JSON.parse(body).error.details)], [422, ['Idempotency-Key']]);
      }
      const both = await send('POST', '/v1/payments', ['a', 'b'], { amount: 0 });
      assert.deepEqual(Object.keys(JSON.parse(both.body).error.details), ['amount', 'Idempotency-Key']);
      const { json } = await service.request(`/v1/payments?merchant_reference=${merchant_reference}`);
      assert.deepEqual(
        json.data.map((payment: { status: string }) => payment.status),
        ['pending'],
      );
      assert.equal((await send('POST', '/v1/payments', ['a, b'], { amount: 1 })).status, 201);
    });

    test('a key is 1 to 255 printable ASCII characters.', async () => {
      for (const key of ['x', '~'.repeat(255), '"8e03978e-40d5-43dd-bc93-6894a57f9324"', 'a b', '!'])
        assert.equal((await create(key)).status, 201, key);
      for (const key of ['', 'x'.repeat(256), 'a\tb', 'schlüssel']) {
        const answer = await create(key, { amount: 0 });
        assert.equal(answer.status, 422, key);
        assert.deepEqual(Object.keys(answer.json.error.details).sort(), ['Idempotency-Key', 'amount']);
      }
      const { id } = await service.create();
      assert.deepEqual(Object.keys((await cancel('x'.repeat(256), id)).json.error.details), [
        'Idempotency-Key',
      ]);
      assert.equal((await service.request(`/v1/payments/${id}`)).json.data.status, 'pending');
    });

    test('a key still in flight is waited for, then idempotency_in_progress.', async () => {
      const { go } = await heldUp(service.service.journal);
      try {
        const begun = performance.now();
        const twins = [create('slow'), create('slow')];
        const refused = await Promise.race(twins); // whichever came second
        assert.equal(refused.status, 409);
        assert.ok(performance.now() - begun > WAITED_MS, 'nobody waited');
        assert.equal(refused.json.error.code, 'idempotency_in_progress');
        assert.equal(refused.headers.get('retry-after'), '1');
        go();
        const [made] = (await Promise.all(twins)).filter(({ status }) => status === 201);
        assert.equal((await create('slow')).text, made!.text);
      } finally {
        go();
      }
    });

    test('after seven days a key is new, and the history still verifies.', async () => {
      const first = await create('week');
      service.clock.advance(7 * DAY_MS - 60_000);
      assert.ok(isReplay(await create('week')));
      service.clock.advance(60_001);
      const second = await create('week');
      assert.equal(second.status, 201);
      assert.ok(!isReplay(second));
      assert.notEqual(second.json.data.id, first.json.data.id);
      await service.verify();
    });
  });
}

test('a repetition that another node answers between the look of its own and its work is that answer, and no refusal.', {
  skip: !ENGINES.includes('postgres'),
}, async () => {
  const nodes = await startNodes('postgres');
  try {
    const { id } = await nodes.harness.create();
    const cancelAt = (origin: string) =>
      ask(origin, `/v1/payments/${id}/cancel`, { method: 'POST', headers: { 'idempotency-key': 'again' } });
    const [origin, another] = nodes.origins as [string, string];
    const { journal } = nodes.services[1]!;
    const { commit } = journal;
    let first: Answer | undefined;
    journal.commit = async (work, row) => {
      journal.commit = commit;
      first = await cancelAt(origin);
      return journal.commit(work, row);
    };
    const repeated = await cancelAt(another);
    assert.deepEqual([first?.status, repeated.status, repeated.text], [200, 200, first?.text]);
    assert.equal(repeated.headers.get('idempotency-replayed'), 'true');
    await nodes.harness.verify();
  } finally {
    await nodes.close();
  }
});

test('the same key in the other mode is another key.', async () => {
  await using service = await startHarness('sqlite', { environment: 'production' });
  const create = (key: string) =>
    service.create({}, { key, headers: { 'idempotency-key': 'both' } }) as Promise<{
      id: string;
      livemode: boolean;
    }>;
  const [live, trial] = [await create(LIVE_KEY), await create(TEST_KEY_IN_PRODUCTION)];
  assert.deepEqual([live.livemode, trial.livemode], [true, false]);
  assert.notEqual(live.id, trial.id);
  assert.deepEqual(await create(LIVE_KEY), live);
});

/** Sends a request with several lines of `Idempotency-Key`, which fetch would join into one. */
async function wire(service: Harness, method: string, path: string, keys: string[], body?: object) {
  const bytes = encodeRequest({
    method,
    path,
    headers: [
      ['Authorization', `Bearer ${KEY}`],
      ['Content-Type', 'application/json'],
      ...keys.map((key): [string, string] => ['Idempotency-Key', key]),
    ],
    body: Buffer.from(JSON.stringify(body ?? {})),
  });
  const [answer] = parseAnswers(await exchange(Number(new URL(service.origin).port), bytes));
  return answer!;
}
