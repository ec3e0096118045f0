// What must hold with a proxy of deploy/ in front of two nodes: one is restarted, or one hangs, which is to take connections and answer nothing.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type HttpsClient, newHttpsClient, type ProxyAnswer } from '../support/https-client.ts';
import type { RunningProxy } from '../support/proxy.ts';
import { eventually } from '../support/waiting.ts';
import { BEARER, besiege, countOf, create, type Site, startSite } from './proxied-site.ts';

/** Of each kind of request; a proxy that takes turns sends half of them to the node that hangs. */
const REQUESTS = 12;
/** A proxy gives up a silent node after 10 seconds. Twice that is more than one silent node may cost. */
const ANSWERED_WITHIN_MS = 20_000;

/** Describes what two nodes behind a proxy must do; `proxyName` is a program, `start` runs it before services at these ports. */
export function twoNodePromises(
  proxyName: string,
  start: (upstreams: readonly number[]) => Promise<RunningProxy>,
  { missing, repeatsKeyedWrites }: { missing: string | false; repeatsKeyedWrites: boolean },
): void {
  const postgres = process.env.COUNTERFOIL_TEST_POSTGRES !== undefined;
  describe(`two nodes behind ${proxyName}`, { skip: missing || (!postgres && 'no PostgreSQL') }, () => {
    test('nodes are restarted one after the other, and nothing that may be sent again is lost', async (t) => {
      const site = await startSite('postgres', 2);
      t.after(() => site.close());
      const proxy = await start(site.ports);
      t.after(() => proxy.stop());
      const { lostReads, lostWrites } = await besiege(site, proxy, (line) =>
        t.diagnostic(`two nodes: ${line}`),
      );
      assert.equal(lostReads, 0);
      if (repeatsKeyedWrites) assert.equal(lostWrites, 0);
    });

    test('one node hangs: what may be sent again is answered by the other, and nothing is done twice', async (t) => {
      const site = await startSite('postgres', 2);
      const hung = site.nodes[0]!.child;
      t.after(() => {
        hung.kill('SIGCONT');
        return site.close();
      });
      const proxy = await start(site.ports);
      t.after(() => proxy.stop());
      const client = newHttpsClient(proxy, 3 * REQUESTS);
      t.after(() => client.close());
      const known = JSON.parse((await create(client, 'before')).text).data.id;

      hung.kill('SIGSTOP');
      const asked = await askAll(client, known);
      t.diagnostic(`slowest answer: ${Math.round(asked.slowestMs)} ms`);
      assert.ok(asked.slowestMs < ANSWERED_WITHIN_MS, `an answer took ${asked.slowestMs} ms`);
      assert.ok(asked.slowestMs > 1000, 'the node that hangs was asked');
      assert.deepEqual(new Set(asked.reads.map(({ status }) => status)), new Set([200]));
      if (repeatsKeyedWrites)
        assert.deepEqual(new Set(asked.keyed.map(({ status }) => status)), new Set([201]));
      const silent = [...asked.keyed, ...asked.bare].filter(({ status }) => status !== 201);
      assert.ok(silent.length > 0, 'a POST without a key is not sent to another node');
      for (const answer of silent) {
        assert.equal(answer.status, 503, answer.text);
        assert.match(JSON.parse(answer.text).error.message, /did not answer in time.*Idempotency-Key/);
        assert.ok(Number(answer.headers['retry-after']) > 0);
      }
      for (const log of [proxy.accessLog(), proxy.errorLog()])
        assert.ok(!log.includes(known), 'a payment stands in a log');

      await holdsAfterWaking(site, client, asked);
    });
  });
}

interface Asked {
  reads: ProxyAnswer[];
  keyed: ProxyAnswer[];
  bare: ProxyAnswer[];
  slowestMs: number;
}

/** Sends all kinds of requests at once and waits for every answer. */
async function askAll(client: HttpsClient, known: string): Promise<Asked> {
  let slowestMs = 0;
  const timed = async (answer: Promise<ProxyAnswer>) => {
    const begun = performance.now();
    const given = await answer;
    slowestMs = Math.max(slowestMs, performance.now() - begun);
    return given;
  };
  const many = (ask: (number: number) => Promise<ProxyAnswer>) =>
    Promise.all(Array.from({ length: REQUESTS }, (_, number) => timed(ask(number))));
  const [reads, keyed, bare] = await Promise.all([
    many(() => client.call(`/pay/v1/payments/${known}`, { headers: BEARER })),
    many((number) => keyedCreate(client, number)),
    many((number) => create(client, `bare-${number}`)),
  ]);
  return { reads, keyed, bare, slowestMs };
}

/** The node goes on with what it was sent meanwhile. Keyed creates are repeated, as a client does after 503. */
async function holdsAfterWaking(site: Site, client: HttpsClient, asked: Asked): Promise<void> {
  site.nodes[0]!.child.kill('SIGCONT');
  const answers = new Map(asked.keyed.map((answer, number) => [number, answer]));
  for (const number of answers.keys()) {
    let repeated = await keyedCreate(client, number);
    await eventually(async () => {
      if (repeated.status !== 201) repeated = await keyedCreate(client, number);
      return repeated.status === 201;
    });
    const first = answers.get(number)!;
    if (first.status === 201)
      assert.equal(idOf(repeated), idOf(first), 'a repeated create gets the first answer');
    assert.equal(await countOf(client, `keyed-${number}`), 1);
  }
  for (const [number, { status }] of asked.bare.entries()) {
    const count = await countOf(client, `bare-${number}`);
    assert.ok(status === 201 ? count === 1 : count <= 1, `bare-${number}: ${count} after ${status}`);
  }
}

const keyedCreate = (client: HttpsClient, number: number) =>
  create(client, `keyed-${number}`, { 'idempotency-key': `hung-${number}` });
const idOf = (answer: ProxyAnswer): string => JSON.parse(answer.text).data.id;
