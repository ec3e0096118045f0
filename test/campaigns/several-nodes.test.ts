// Three nodes on one PostgreSQL behind a balancer: what one did all know, everything happens once, and nodes come and go unnoticed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { SECOND_MS } from '../../src/lib/time.ts';
import { changeMerchantState } from '../../src/merchants/change.ts';
import { addPerson } from '../support/admin.ts';
import { plainEnvironment, ROOT } from '../support/command.ts';
import { MANY_SIGN_INS, newClient, signIn } from '../support/console.ts';
import { HEADINGS, open, send, TYPED } from '../support/customer.ts';
import { KEY, secretsOf } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { createAt, KEYS, SHOP } from '../support/shop.ts';
import { storm } from './idempotency-storm.ts';
import { contend } from './node-contests.ts';
import { type Site, startSite } from './node-processes.ts';
import { comeAndGo } from './nodes-come-and-go.ts';
import { becomesWithin } from './promised-time.ts';

/** Keys of the storm; the rest is in proportion. COUNTERFOIL_RUNS=10000 is the long form. */
const KEYS_SENT = Number(process.env.COUNTERFOIL_RUNS) || 60;
const CONTESTS = Math.ceil(KEYS_SENT * 0.5);
const COMINGS_AND_GOINGS = Math.max(8, Math.ceil(KEYS_SENT * 0.03));
const NODES = 3;
const KNOWN_WITHIN_MS = SECOND_MS;
const CONFIGURATION = `${SHOP}checkout_forms_per_payment: 1000000
checkout_forms_per_address: 1000000
registration: { per_address: 1000000, per_hour: 1000000 }
${MANY_SIGN_INS}`;

describe('several nodes', () => {
  const random = new SeededRandom();
  let site: Site;
  before(async () => {
    console.log(
      `several-nodes: seed ${random.seed} (COUNTERFOIL_SEED), ${KEYS_SENT} keys (COUNTERFOIL_RUNS)`,
    );
    site = await startSite({ nodes: NODES, random, configuration: CONFIGURATION });
  });
  after(() => site?.close());

  const headers = (key: string) => ({ authorization: `Bearer ${key}` });

  /** Asks every node itself. */
  function everywhere(path: string, key: string): Promise<{ status: number; text: string }[]> {
    return Promise.all(
      site.nodes.map(async ({ origin }) => {
        const response = await fetch(origin + path, { headers: headers(key) });
        return { status: response.status, text: await response.text() };
      }),
    );
  }

  async function assertStatus(id: string, status: string, key: string): Promise<void> {
    const answers = await everywhere(`/v1/payments/${id}`, key);
    const seen = answers.map(({ text }) => JSON.parse(text).data?.status);
    assert.deepEqual(seen, Array(NODES).fill(status), `seed ${random.seed}`);
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1, 'the nodes answer alike to the byte');
  }

  test('the tests of the specification pass, each request of theirs answered by another node.', async (context) => {
    const env = plainEnvironment({
      COUNTERFOIL_TEST_POSTGRES: process.env.COUNTERFOIL_TEST_POSTGRES!,
      COUNTERFOIL_TEST_DATABASE: site.harness.store.database_url!,
      COUNTERFOIL_TEST_ORIGIN: site.balancer.origin,
      ...secretsOf(site.harness.store),
    });
    const files = globSync('test/specification/*.test.ts', { cwd: ROOT }).sort();
    const all = ['--test', '--test-isolation=none', '--test-reporter=tap', '--test-name-pattern=on postgres'];
    const run = await promisify(execFile)(process.execPath, [...all, ...files], { cwd: ROOT, env }).catch(
      (error) => error,
    );
    const told = (what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(run.stdout)?.[1]);
    assert.equal(told('fail'), 0, run.stdout + run.stderr);
    assert.ok(told('pass') >= 60, run.stdout);
    context.diagnostic(`${told('pass')} tests of the specification passed on ${NODES} nodes`);
  });

  test('a payment goes its way over all nodes, and each step is seen on every node at once.', async () => {
    const reviewer = await addPerson(site.harness, 'reviewer');
    for (const [act, end] of [
      ['approve', 'approved'],
      ['reject', 'rejected'],
    ] as const) {
      const payment = await createAt(site.harness, 'details');
      await assertStatus(payment.id, 'pending', KEYS.details);
      const sent = await send(await open(site.harness, payment.id), TYPED.details);
      assert.equal(sent.h1, HEADINGS.details, sent.body);
      await assertStatus(payment.id, 'requires_review', KEYS.details);
      const decided = await site.harness.request(`/admin/payments/${payment.id}/${act}`, {
        method: 'POST',
        key: reviewer.token,
        body: act === 'reject' ? { reason: 'other' } : {},
      });
      assert.equal(decided.status, 200, decided.text);
      await assertStatus(payment.id, end, KEYS.details);
    }
  });

  test('somebody signs in at the console over all nodes, and once signed out is so on every node.', async () => {
    const ana = await signIn(site.harness, 'administrator');
    for (const _ of site.nodes) assert.equal((await ana.get('/account')).h1, 'Your account');
    const cookies = new Map(ana.cookies);
    await ana.send(await ana.get('/account'), {}, 'Sign out');
    const left = newClient(site.harness);
    for (const [name, value] of cookies) left.cookies.set(name, value);
    for (const _ of site.nodes) assert.notEqual((await left.get('/account')).h1, 'Your account');
  });

  test('a merchant who is suspended may create nowhere, and a key that is revoked is refused everywhere, within a second.', async (context) => {
    const body = { business_name: 'Passing Shop', email: 'passing@shop.example' };
    const registered = await site.harness.request('/register', { method: 'POST', key: null, body });
    const { merchant, api_key, api_key_id } = registered.json.data;
    const create = ({ origin }: { origin: string }) =>
      fetch(`${origin}/v1/payments`, {
        method: 'POST',
        headers: { ...headers(api_key), 'content-type': 'application/json' },
        body: '{"amount":1}',
      }).then(async (response) => {
        await response.arrayBuffer();
        return response.status;
      });
    /** How long it took until every node answered so. */
    const until = (status: number) =>
      becomesWithin(10 * KNOWN_WITHIN_MS, Array(NODES).fill(status), () =>
        Promise.all(site.nodes.map(create)),
      );
    assert.deepEqual(await Promise.all(site.nodes.map(create)), Array(NODES).fill(201));
    const who = { actor: 'operator', by: 'operator', request_id: null };
    const { journal } = site.harness.service;
    await changeMerchantState(journal, merchant.id, 'suspended', who, 'Asked for it.');
    const suspended = await until(403);
    await changeMerchantState(journal, merchant.id, 'resumed', who, 'Asked for it.');
    await until(201);
    const path = `/v1/api_keys/${api_key_id}/revoke`;
    assert.equal((await site.harness.request(path, { method: 'POST', key: api_key })).status, 200);
    const revoked = await until(401);
    context.diagnostic(
      `suspended everywhere after ${suspended.toFixed()} ms, revoked after ${revoked.toFixed()}`,
    );
    assert.ok(suspended < KNOWN_WITHIN_MS && revoked < KNOWN_WITHIN_MS);
  });

  test(`${CONTESTS} contests of submitting, cancelling, approving and rejecting have one winner each.`, {
    timeout: Infinity,
  }, async (context) => {
    context.diagnostic(JSON.stringify(await contend(site, random, CONTESTS)));
  });

  test(`${KEYS_SENT} idempotency keys, each sent twenty times over connections that are cut, make one payment each.`, {
    timeout: Infinity,
  }, async (context) => {
    context.diagnostic(JSON.stringify(await storm(site, random, KEYS_SENT)));
  });

  test(`${COMINGS_AND_GOINGS} starts, stops and kills of nodes under load lose nothing that was acknowledged.`, {
    timeout: Infinity,
  }, async (context) => {
    context.diagnostic(JSON.stringify(await comeAndGo(site, random, COMINGS_AND_GOINGS)));
  });

  test('the entries of all nodes are numbered without a gap or a double, and the history verifies.', async () => {
    const { database } = site.harness.service;
    const numbers = await database.query<{ number: number }>(
      'select number from audit_entries order by number',
    );
    for (const [index, { number }] of numbers.entries()) assert.equal(number, index + 1);
    assert.equal((await site.harness.verify()).entries, numbers.length);
    assert.equal((await fetch(`${site.balancer.origin}/v1/payments`, { headers: headers(KEY) })).status, 200);
  });
});
