// Ten thousand contests for the same payment or the same idempotency key: one winner each, on every engine and over two nodes.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SECOND_MS } from '../../src/lib/time.ts';
import { expireDuePayments } from '../../src/payments/expire.ts';
import { awakeMs } from '../support/awake.ts';
import type { LoadAnswer } from '../support/load-client.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES, type Engine } from '../support/stores.ts';
import { type LoadedNodes, startLoadedNodes } from './nodes.ts';

/** 10,000 in all. */
const CONTESTS: Record<Engine, Record<'cancels' | 'expiry' | 'duplicates', number>> = {
  sqlite: { cancels: 2500, expiry: 1900, duplicates: 200 },
  postgres: { cancels: 3400, expiry: 1600, duplicates: 400 },
};
const AT_ONCE = 100;
const CANCELS = 2;
const DUPLICATES = 20;
/** The shortest life a payment may have. */
const LIFE_S = 300;
/** No answer may wait for longer, deadlocks and repeated batches included. */
const SLOWEST_ANSWER_MS = 5000;
/** A twin is waited for so long, and some. */
const WAITED_MS = 1900;

const random = new SeededRandom();

for (const engine of ENGINES) {
  describe(`races on ${engine}`, () => {
    let nodes: LoadedNodes;
    let slowestMs = 0;
    before(async () => {
      nodes = await startLoadedNodes(engine);
    });
    after(() => nodes.close());

    /** Sends from the nodes in turn, beginning at any. */
    async function sendAll(requests: { path: string; body?: object; key?: string }[]): Promise<LoadAnswer[]> {
      const offset = random.between(0, 1);
      return Promise.all(
        requests.map(async ({ path, body, key }, index) => {
          const client = nodes.clients[(index + offset) % nodes.clients.length]!;
          for (;;) {
            const [begun, sentAt] = [awakeMs(), performance.now()];
            const answer = await client.post(path, body, key);
            slowestMs = Math.max(slowestMs, awakeMs() - begun);
            assert.ok(answer, `${path} had no answer`);
            if (!/"idempotency_in_progress"/.test(answer.text)) return answer;
            // Whose twin is at work for longer than one waits is told so, and comes again.
            assert.ok(performance.now() - sentAt > WAITED_MS, 'nobody waited for the twin');
          }
        }),
      );
    }

    async function createPending(count: number, fields: object = {}): Promise<string[]> {
      const body = { amount: 10, ...fields };
      const created = await sendAll(Array.from({ length: count }, () => ({ path: '/v1/payments', body })));
      return created.map((answer) => {
        assert.equal(answer.status, 201, answer.text);
        return JSON.parse(answer.text).data.id as string;
      });
    }

    /** How a contest of cancels ended: the one that won, if any, and nothing but 409 besides. */
    function winners(answers: LoadAnswer[]): number {
      for (const { status, text } of answers)
        assert.ok(status === 200 || (status === 409 && /invalid_status/.test(text)), `${status}: ${text}`);
      return answers.filter(({ status }) => status === 200).length;
    }

    /** Every payment's cancels in one heap, shuffled, so that the nodes meet the payments in different orders. */
    async function cancelAll(
      ids: string[],
      meanwhile: () => Promise<unknown>,
    ): Promise<Map<string, LoadAnswer[]>> {
      const targets = random.shuffled(ids.flatMap((id) => Array<string>(CANCELS).fill(id)));
      const sent = sendAll(targets.map((id) => ({ path: `/v1/payments/${id}/cancel` })));
      const [answers] = await Promise.all([sent, meanwhile()]);
      const byId = new Map<string, LoadAnswer[]>(ids.map((id) => [id, []]));
      for (const [index, answer] of answers.entries()) byId.get(targets[index]!)!.push(answer);
      return byId;
    }

    test(`${CONTESTS[engine].cancels} × cancel against cancel: one 200 each`, async (context) => {
      console.log(`races: seed ${random.seed} (COUNTERFOIL_SEED)`);
      for (let done = 0; done < CONTESTS[engine].cancels; done += AT_ONCE) {
        const outcome = await cancelAll(await createPending(AT_ONCE), async () => {});
        for (const [id, answers] of outcome) assert.equal(winners(answers), 1, `${id}, seed ${random.seed}`);
      }
      context.diagnostic(`slowest answer ${Math.round(slowestMs)} ms`);
    });

    test(`${CONTESTS[engine].expiry} × cancel against the clock: one of them each`, async (context) => {
      let byClock = 0;
      for (let done = 0; done < CONTESTS[engine].expiry; done += AT_ONCE) {
        const ids = await createPending(AT_ONCE, { expires_in: LIFE_S });
        const turns = random.between(0, 40);
        const outcome = await cancelAll(ids, async () => {
          for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
          nodes.harness.clock.advance(LIFE_S * SECOND_MS);
          await Promise.all(nodes.services.map(({ journal }) => expireDuePayments(journal)));
        });
        const rows = await nodes.harness.service.database.query<{
          id: string;
          status_reason: string;
          version: number;
        }>('select id, status_reason, version from payments order by id desc limit ?', AT_ONCE);
        const rowOf = new Map(rows.map((row) => [row.id, row]));
        for (const [id, answers] of outcome) {
          const won = winners(answers);
          const row = rowOf.get(id)!;
          assert.equal(row.version, 2, `${id}, seed ${random.seed}`);
          assert.equal(
            row.status_reason,
            won === 1 ? 'cancelled_by_merchant' : 'expired',
            `${id}, seed ${random.seed}`,
          );
          byClock += 1 - won;
        }
      }
      context.diagnostic(
        `the clock won ${byClock} of ${CONTESTS[engine].expiry}; slowest answer ${Math.round(slowestMs)} ms`,
      );
    });

    test(`${CONTESTS[engine].duplicates} × ${DUPLICATES} duplicates of one key: one payment, one answer`, async (context) => {
      const keysAtOnce = 10;
      for (let done = 0; done < CONTESTS[engine].duplicates; done += keysAtOnce) {
        const keys = Array.from({ length: keysAtOnce }, (_, index) => `race-${done + index}`);
        const requests = random.shuffled(keys.flatMap((key) => Array<string>(DUPLICATES).fill(key)));
        const answers = await sendAll(
          requests.map((key) => ({
            path: '/v1/payments',
            body: { amount: 1, merchant_reference: key },
            key,
          })),
        );
        for (const key of keys) {
          const own = answers.filter((_, index) => requests[index] === key);
          assert.deepEqual(
            [...new Set(own.map(({ status, text }) => `${status} ${text}`))].length,
            1,
            `${key}, seed ${random.seed}`,
          );
          assert.equal(own[0]!.status, 201, own[0]!.text);
          assert.equal(own.filter(({ replayed }) => !replayed).length, 1, `${key} was done more than once`);
        }
      }
      const doubled = await nodes.harness.service.database.query(
        `select merchant_reference from payments where merchant_reference is not null
         group by merchant_reference having count(*) <> 1`,
      );
      assert.deepEqual(doubled, []);
      context.diagnostic(`slowest answer ${Math.round(slowestMs)} ms`);
    });

    test('entries are numbered without a gap or a double, the history verifies, and nobody waited long', async () => {
      const numbers = await nodes.harness.service.database.query<{ number: number }>(
        'select number from audit_entries order by number',
      );
      for (const [index, { number }] of numbers.entries()) assert.equal(number, index + 1);
      const verified = await nodes.harness.verify();
      assert.equal(verified.entries, numbers.length);
      assert.ok(slowestMs < SLOWEST_ANSWER_MS, `the slowest answer took ${Math.round(slowestMs)} ms`);
    });
  });
}
