// Calls by the thousand on a way that loses every third request or answer: no payment twice, and no success that is not there.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sharedHarness } from '../../../test/support/harness.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { ENGINES } from '../../../test/support/stores.ts';
import {
  type ApiError,
  ConnectionError,
  type Counterfoil,
  CounterfoilError,
  type Payment,
} from '../src/index.ts';
import { FAULTS, FaultyWay } from './support/faulty-way.ts';

/** How many calls: 400 in `npm test`, 10,000 as a campaign (COUNTERFOIL_RUNS). */
const CALLS = Number(process.env.COUNTERFOIL_RUNS) || 400;
const AT_ONCE = 40;
const FAULT_CHANCE = 0.35;
/** Some calls give up before they could succeed: what became of them is asked with their key. */
const HASTY_CHANCE = 0.1;
const HASTY_MS = 60;
/** Refusals that leave open what became of a call. */
const PASSING = ['rate_limited', 'unavailable', 'idempotency_in_progress'];

/** What a caller knows of one order. */
interface Order {
  reference: string;
  created?: Payment;
  /** The key of a create that ended without an answer. */
  openKey?: string;
  isCancelled: boolean;
}

for (const engine of ENGINES)
  describe(`${CALLS} calls on a faulty way, on ${engine}`, () => {
    const service = sharedHarness(engine, { isVerified: true });
    const random = new SeededRandom();
    let way: FaultyWay;
    let client: Counterfoil;
    before(async () => {
      console.log(`faulty-calls: seed ${random.seed} (COUNTERFOIL_SEED), ${CALLS} calls (COUNTERFOIL_RUNS)`);
      way = await FaultyWay.to(service);
      way.choose = () => (random.chance(FAULT_CHANCE) ? random.pick(FAULTS) : 'none');
      client = way.client();
    });
    after(() => way.close());

    const orders: Order[] = [];
    let calls = 0;
    let unanswered = 0;

    const options = () => {
      calls += 1;
      return random.chance(HASTY_CHANCE) ? { timeoutMs: HASTY_MS } : {};
    };

    /** The answer of a call; its key where it ended without one. Throws what the service refused. */
    async function outcome<T>(call: Promise<T>): Promise<{ answer: T } | { key: string | undefined }> {
      try {
        return { answer: await call };
      } catch (error) {
        const isOpen = error instanceof ConnectionError || PASSING.includes((error as ApiError).code);
        if (!(error instanceof CounterfoilError) || !isOpen) throw error;
        unanswered += 1;
        return { key: error.idempotencyKey };
      }
    }

    async function buy(order: Order): Promise<void> {
      const wanted = { amount: '49.90', merchant_reference: order.reference };
      const bought = await outcome(client.payments.create(wanted, options()));
      if ('key' in bought) {
        order.openKey = bought.key!;
        return;
      }
      order.created = bought.answer;
      assert.equal(bought.answer.merchant_reference, order.reference);
      const read = await outcome(client.payments.read(bought.answer.id, options()));
      if ('answer' in read) assert.deepEqual(read.answer, bought.answer);
      if (!random.chance(0.3)) return;
      const cancelled = await outcome(client.payments.cancel(bought.answer.id, options()));
      if ('answer' in cancelled) assert.equal(cancelled.answer.status, 'cancelled');
      order.isCancelled = 'answer' in cancelled;
    }

    test('are answered truly, or end in an error whose key tells what became of them.', async () => {
      const work = async () => {
        while (calls < CALLS) {
          const order: Order = { reference: `order-${orders.length}`, isCancelled: false };
          orders.push(order);
          await buy(order);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      for (const order of orders.filter(({ openKey }) => openKey)) {
        const wanted = { amount: '49.90', merchant_reference: order.reference };
        order.created = await client.payments.create(wanted, { idempotencyKey: order.openKey! });
      }
    });

    test('leave one payment for each order, as it was answered.', async (context) => {
      way.choose = () => 'none';
      const stored = Map.groupBy(
        await Array.fromAsync(client.payments.list()),
        (one) => one.merchant_reference,
      );
      assert.equal(stored.size, orders.length);
      for (const { reference, created, isCancelled } of orders) {
        const found = stored.get(reference)!;
        assert.deepEqual(
          found.map(({ id }) => id),
          [created!.id],
          `${reference}, seed ${random.seed}`,
        );
        if (isCancelled) assert.equal(found[0]!.status, 'cancelled', reference);
      }
      const counted = Object.groupBy(way.passed, ({ fault }) => fault);
      const faults = Object.entries(counted).map(([fault, all]) => `${fault}: ${all!.length}`);
      context.diagnostic(
        `${calls} calls, ${way.passed.length} requests, ${unanswered} without an answer; ${faults.join(', ')}`,
      );
      assert.ok(way.passed.length > calls * 1.2, 'requests were sent again');
    });
  });
