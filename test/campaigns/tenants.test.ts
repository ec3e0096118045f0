// A hundred merchants in both modes call everything there is at once: nobody ever reads a byte that belongs to another.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { beginningOf } from '../support/event-stream.ts';
import { type Answer, type Harness, startHarness } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES, type Engine } from '../support/stores.ts';
import type { Move, Walk } from './tenant-calls.ts';
import { draw } from './tenant-moves.ts';
import { configuredMerchants, settle, type Tenant } from './tenants.ts';

/** COUNTERFOIL_RUNS=100000 is the long form. */
const CALLS_ON: Record<Engine, number> = { sqlite: 2000, postgres: 1500 };
const AT_ONCE = 32;
const CONFIGURED = 10;
const REGISTERED = 90;
/** One network address registers and refuses, and one key calls, more often than any would. */
const UNLIMITED = `mail: { host: 127.0.0.1, port: 1, tls: none, from: shop@counterfoil.example }
registration: { mode: open, per_address: 1000000, per_hour: 1000000 }
rate_limits: { writes_per_second: 1000000, reads_per_second: 1000000, refused_keys_per_minute: 1000000 }
`;
/** What two answers of the same bytes may differ in. */
const OWN_HEADERS = ['date', 'x-request-id', 'ratelimit', 'ratelimit-policy'];

for (const engine of ENGINES) {
  describe(`tenants on ${engine}`, () => {
    const CALLS = Number(process.env.COUNTERFOIL_RUNS) || CALLS_ON[engine];
    const random = new SeededRandom();
    let harness: Harness;
    let walk: Walk;
    /** The one answer of each route and method to what is unknown. */
    const absent = new Map<string, string>();
    /** The statuses that each route came to. */
    const came = new Map<string, Set<number>>();

    before(async () => {
      console.log(`tenants on ${engine}: seed ${random.seed} (COUNTERFOIL_SEED)`);
      const { merchants, lines } = configuredMerchants(CONFIGURED, random);
      harness = await startHarness(engine, { environment: 'production', configuration: lines + UNLIMITED });
      walk = { ...(await settle(harness, merchants, REGISTERED, random)), random, drawn: new Set() };
    });
    after(() => harness.close());

    function send({ path, options }: Move): Promise<Answer> {
      if (path.startsWith('/v1/events/stream') && options.method === 'GET' && options.key)
        return beginningOf(harness, path, options.key);
      // Checkout lies below a path of its own.
      return harness.request(path.startsWith('/payment.php') ? `/../checkout${path}` : path, options);
    }

    /** Holds an answer against what its move allows. Throws what is wrong with it. */
    function judge(move: Move, answer: Answer): void {
      const { route, options, statuses, readers, key, isAbsent, heard } = move;
      const { status, text } = answer;
      const headers = [...answer.headers].filter(([name]) => !OWN_HEADERS.includes(name));
      const whole = JSON.stringify({ status, headers, text });
      assert.deepEqual(walk.marks.foreignIn(`${JSON.stringify(headers)} ${text}`, readers), [], whole);
      // A key may end, or be replaced, while a call with it is under way.
      if ((status === 401 || status === 403) && key && walk.drawn.has(key.id)) return;
      assert.ok(statuses.includes(status), `${statuses} expected: ${whole}`);
      const called = `${options.method ?? 'GET'} ${route}`;
      if (isAbsent) assert.equal(whole, absent.get(called) ?? whole, 'unknown and foreign differ');
      if (isAbsent) absent.set(called, whole);
      came.set(route, (came.get(route) ?? new Set()).add(status));
      if (options.method === 'HEAD') assert.equal(text, '');
      else heard?.(answer);
    }

    /** Sends moves at once, and judges each answer. */
    async function sendBatch(batch: string): Promise<void> {
      walk.drawn.clear();
      const moves = Array.from({ length: AT_ONCE }, () => draw(walk));
      const answers = await Promise.all(moves.map(send));
      for (const [i, move] of moves.entries()) {
        const called = `${batch}, call ${i} of seed ${random.seed}: ${move.options.method ?? 'GET'} ${move.path}`;
        try {
          judge(move, answers[i]!);
        } catch (error) {
          throw new Error(`${called}: ${(error as Error).message}`, { cause: error });
        }
      }
    }

    test('no answer holds a foreign byte, and foreign and unknown are the same.', async () => {
      for (let done = 0; done < CALLS; done += AT_ONCE) await sendBatch(`after ${done} calls`);
    });

    test('every route was called, with what is its caller’s own and with what is not.', async () => {
      const { paths } = (await harness.request('/openapi.json')).json as { paths: Record<string, object> };
      const routes = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      const asked = routes.filter((route) => / \/(v1|register)/.test(route));
      assert.ok(asked.length >= 10, String(routes));
      const missing = () =>
        asked.filter((route) => {
          const statuses = came.get(route) ?? new Set();
          const wentWell = statuses.has(200) || statuses.has(201);
          return !wentWell || (route.includes('{') && !statuses.has(404));
        });
      // A rare route may not have been drawn yet.
      for (let more = 0; missing().length > 0 && more < 5 * CALLS; more += AT_ONCE)
        await sendBatch(`after ${more} more calls`);
      assert.deepEqual(missing(), [], 'called with what is its own, and with what is not');
    });

    test('in the end each has all that is its own, as it left it, and nothing else.', async () => {
      for (const tenant of walk.tenants) {
        const payments = await everything(tenant, 'payments');
        assert.deepEqual(
          new Map(payments.map(({ id, status }) => [id, status])),
          new Map(tenant.payments.map(({ id, status }) => [id, status])),
        );
        const keys = await everything(tenant, 'api_keys');
        assert.deepEqual(new Set(keys.map(({ id }) => id)), new Set(tenant.keys.map(({ id }) => id)));
        for (const { id, isOver } of tenant.keys)
          assert.equal(keys.find((key) => key.id === id)!.status === 'active', !isOver, id);
        const hooks = await everything(tenant, 'webhook_endpoints');
        assert.deepEqual(new Set(hooks.map(({ id }) => id)), new Set(tenant.hooks.map(({ id }) => id)));
      }
      await harness.verify();
    });

    async function everything(tenant: Tenant, what: string): Promise<{ id: string; status: string }[]> {
      const found: { id: string; status: string }[] = [];
      let cursor = '';
      do {
        const { key } = tenant.keys[0]!;
        const { json } = await harness.request(`/v1/${what}?limit=100${cursor}`, { key });
        found.push(...json.data);
        cursor = json.next_cursor === null ? '' : `&cursor=${json.next_cursor}`;
      } while (cursor);
      return found;
    }
  });
}
