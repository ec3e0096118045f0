// A storm of requests with the same idempotency keys, on every node at once and over connections that break: once each, one answer.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { KEY } from '../support/harness.ts';
import { gaveUp, type LoadAnswer, type LoadClient, loadClient } from '../support/load-client.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Site } from './node-processes.ts';

const DUPLICATES = 20;
const KEYS_AT_ONCE = 8;
const CUT_SHARE = 0.05;
/** A request that had no answer, or whose twin is under way, is sent again: so often at most, also where a node stands still. */
const REPEATS = 1000;
const REPEAT_AFTER_MS = 20;

/** Sends `count` keys, each `DUPLICATES` times at once, and each once with another body. Gives what there was to see. */
export async function storm(site: Site, random: SeededRandom, count: number) {
  const client = loadClient(site.balancer.origin, KEY, KEYS_AT_ONCE * DUPLICATES);
  const seen = { sent: 0, unanswered: 0, inProgress: 0, replayed: 0 };
  const before = { ...site.balancer.cuts };

  async function settle(body: object, key: string): Promise<LoadAnswer> {
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      seen.sent += 1;
      const answer = await client.post('/v1/payments', body, key);
      if (answer && !gaveUp(answer) && !/idempotency_in_progress/.test(answer.text)) {
        if (answer.replayed) seen.replayed += 1;
        return answer;
      }
      if (answer?.status === 409) seen.inProgress += 1;
      else seen.unanswered += 1;
      await delay(REPEAT_AFTER_MS);
    }
    return assert.fail(`${key} never settled, seed ${random.seed}`);
  }
  /** One key's storm. Gives its payment's id. */
  async function one(key: string): Promise<string> {
    const body = { amount: random.between(1, 1_000_000) / 100, merchant_reference: key };
    const duplicates = Array.from({ length: DUPLICATES }, () => settle(body, key));
    const other = Promise.race(duplicates).then(() => settle({ ...body, amount: 0.5, other: 1 }, key));
    const answers = await Promise.all(duplicates);
    const [first] = answers;
    const different = answers.find(({ status, text }) => status !== first!.status || text !== first!.text);
    assert.equal(different, undefined, `${key} was answered ${first!.text} as well, seed ${random.seed}`);
    assert.equal(first!.status, 201, first!.text);
    const refused = await other;
    assert.equal(refused.status, 422, refused.text);
    assert.equal(JSON.parse(refused.text).error.code, 'idempotency_key_reused');
    return JSON.parse(first!.text).data.id;
  }

  site.balancer.cutShare(CUT_SHARE);
  const ids = await inTurn(count, KEYS_AT_ONCE, (number) => one(`storm-${random.seed}-${number}`));
  site.balancer.cutShare(0);
  await assertOnceEach(site, client, random, ids);
  client.close();
  const { cuts } = site.balancer;
  const cut = {
    before: cuts.before - before.before,
    behind: cuts.behind - before.behind,
    during: cuts.during - before.during,
  };
  assert.ok(Math.min(...Object.values(cut)) > 0, `not everything was cut: ${JSON.stringify(cut)}`);
  return { keys: count, ...seen, cut };
}

/** Does `count` things, a few at a time. */
async function inTurn<T>(count: number, atOnce: number, act: (number: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const work = async () => {
    while (next < count) results.push(await act(next++));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

/** Exactly the payments that were told, one for each key. */
async function assertOnceEach(
  { harness }: Site,
  client: LoadClient,
  { seed }: SeededRandom,
  ids: readonly string[],
): Promise<void> {
  const rows = await harness.service.database.query<{ id: string; merchant_reference: string }>(
    'select id, merchant_reference from payments where merchant_reference like ?',
    `storm-${seed}-%`,
  );
  assert.deepEqual(rows.map(({ id }) => id).sort(), [...ids].sort(), `seed ${seed}`);
  assert.equal(new Set(rows.map((row) => row.merchant_reference)).size, ids.length);
  assert.equal((await client.get(`/v1/payments/${ids[0]}`))?.status, 200);
}
