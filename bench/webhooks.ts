// node bench/webhooks.ts: how late webhooks arrive beside a dead receiver, how many a node delivers, and what they cost creates.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { quantile, type Shops, startShops } from './shops.ts';

const SHOPS = 100;
const EVENTS = 10_000;
const EVENTS_PER_S = 200;
const BACKLOG = 2000;
const ENDPOINTS = 16;
const ROUNDS = 5;
const ROUND_S = 4;
const CONNECTIONS = 64;

/** What arrived: the payment, and when, in milliseconds since 1970. */
type Arrival = [path: string, payment: string, at: number];

/** The receiver's process: `/dead` is never answered, all else at once. It tells its port, and each second what arrived. */
async function receive(): Promise<void> {
  let arrived: Arrival[] = [];
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    arrived.push([request.url!, /"payment_id":"(\w+)"/.exec(text)![1]!, Date.now()]);
    if (request.url !== '/dead') response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send!((server.address() as AddressInfo).port);
  setInterval(() => {
    process.send!(arrived);
    arrived = [];
  }, 250);
}

const arrivals: Arrival[] = [];

async function endpoint({ post }: Shops, key: string, path: string, receiver: number) {
  return (await post('/v1/webhook_endpoints', key, { url: `http://localhost:${receiver}${path}` })).id;
}

/** Waits until `count` webhooks came that `isMeant` takes, or none did for 20 seconds. */
async function arrivedAtLast(count: number, isMeant: (one: Arrival) => boolean): Promise<Arrival[]> {
  for (let before = 0, quietS = 0; quietS < 20; ) {
    const all = arrivals.filter(isMeant);
    if (all.length >= count) return all;
    quietS = arrivals.length === before ? quietS + 0.5 : 0;
    before = arrivals.length;
    await sleep(500);
  }
  return arrivals.filter(isMeant);
}

/** One endpoint never answers, 99 do; each has a hundredth of the events. */
async function lateness(receiver: number): Promise<void> {
  const shops = await startShops(SHOPS);
  for (const [i, key] of shops.keys.entries())
    await endpoint(shops, key, i === 0 ? '/dead' : '/live', receiver);
  const answeredAt = new Map<string, number>();
  const began = performance.now();
  const open: Promise<void>[] = [];
  for (let i = 0; i < EVENTS; i++) {
    const create = async () => {
      const { id } = await shops.post('/v1/payments', shops.keys[i % SHOPS]!, { amount: 1 });
      answeredAt.set(id, Date.now());
    };
    open.push(create());
    const early = began + (i * 1000) / EVENTS_PER_S - performance.now();
    if (early > 0) await sleep(early);
  }
  await Promise.all(open);
  const live = (EVENTS / SHOPS) * (SHOPS - 1);
  const came = await arrivedAtLast(live, ([path]) => path === '/live');
  const late = came.map(([, payment, at]) => at - answeredAt.get(payment)!).sort((a, b) => a - b);
  const rate = (EVENTS * 1000) / (performance.now() - began);
  console.log(
    `1 dead and ${SHOPS - 1} live endpoints, ${EVENTS} events (${rate.toFixed(0)} a second): ${came.length} of ${live} came to the live; ` +
      `p50 ${quantile(late, 0.5)} ms, p99 ${quantile(late, 0.99)} ms, latest ${quantile(late, 1)} ms after the create was answered`,
  );
  await shops.stop();
}

/** Events that are there already are sent to 16 endpoints. */
async function throughput(receiver: number): Promise<void> {
  const shops = await startShops(1);
  const [key] = shops.keys as [string];
  for (let i = 0; i < BACKLOG; i += CONNECTIONS)
    await Promise.all(
      Array.from({ length: CONNECTIONS }, () => shops.post('/v1/payments', key, { amount: 1 })),
    );
  const since = new Date(Date.now() - 60_000).toISOString();
  const ids: string[] = [];
  for (let i = 0; i < ENDPOINTS; i++) ids.push(await endpoint(shops, key, '/much', receiver));
  const before = shops.processorMs();
  const began = Date.now();
  for (const id of ids)
    await shops.post(`/v1/webhook_endpoints/${id}/resend`, key, { what: 'missing', since });
  const count = Math.ceil(BACKLOG / CONNECTIONS) * CONNECTIONS * ENDPOINTS;
  const came = await arrivedAtLast(count, ([path]) => path === '/much');
  const ms = Math.max(...came.map(([, , at]) => at)) - began;
  const rate = (came.length * 1000) / ms;
  const each = (shops.processorMs() - before) / came.length;
  console.log(
    `${came.length} of ${count} deliveries to ${ENDPOINTS} endpoints in ${(ms / 1000).toFixed(1)} s: ${rate.toFixed(0)} a second, ` +
      `${each.toFixed(2)} ms of the processor each`,
  );
  await shops.stop();
}

/** Creates on a server whose merchant has an endpoint and on one without, in turns: the other one stands still. */
async function price(receiver: number): Promise<void> {
  const lines = ['rate_limits: {enabled: false}'];
  const [told, untold] = [await startShops(1, lines), await startShops(1, lines)];
  await endpoint(told, told.keys[0]!, '/told', receiver);
  untold.signal('SIGSTOP');
  told.signal('SIGSTOP');
  /** What the rounds took of the processor, and what was created in them: told on a busy machine too. */
  const used = new Map([told, untold].map((shops) => [shops, { ms: 0, creates: 0 }]));
  const perSecond = async (shops: Shops): Promise<number> => {
    const before = shops.processorMs();
    shops.signal('SIGCONT');
    const headers = { authorization: `Bearer ${shops.keys[0]}`, 'content-type': 'application/json' };
    const result = await autocannon({
      ...{ url: `http://127.0.0.1:${shops.port}/v1/payments`, method: 'POST', headers, duration: ROUND_S },
      ...{ body: '{"amount":1}', connections: CONNECTIONS },
    });
    shops.signal('SIGSTOP');
    if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} were refused`);
    used.get(shops)!.ms += shops.processorMs() - before;
    used.get(shops)!.creates += result.requests.total;
    return result.requests.total / result.duration;
  };
  for (const shops of [told, untold]) await perSecond(shops); // warm-up
  for (const one of used.values()) one.ms = one.creates = 0;
  const before = arrivals.length;
  const rounds: [number, number][] = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push([await perSecond(told), await perSecond(untold)]);
  const middle = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;
  const [ours, theirs] = [0, 1].map((i) => middle(rounds.map((round) => round[i]!)));
  const ratio = middle(rounds.map(([one, other]) => one / other));
  const [ourMs, theirMs] = [told, untold].map((shops) => used.get(shops)!.ms / used.get(shops)!.creates);
  console.log(
    `creates with an endpoint ${ours!.toFixed(0)} a second, without ${theirs!.toFixed(0)}: ${ratio.toFixed(2)}; ` +
      `${ourMs!.toFixed(3)} and ${theirMs!.toFixed(3)} ms of the processor each; ${arrivals.length - before} webhooks came meanwhile`,
  );
  for (const shops of [told, untold]) {
    shops.signal('SIGCONT');
    await shops.stop();
  }
}

if (process.send) await receive();
else {
  const receiver = fork(new URL(import.meta.url));
  const [port] = (await once(receiver, 'message')) as [number];
  receiver.on('message', (more) => arrivals.push(...(more as Arrival[])));
  const parts: Record<string, (receiver: number) => Promise<void>> = { lateness, throughput, price };
  for (const [name, part] of Object.entries(parts))
    if (process.argv.length < 3 || process.argv.includes(name)) await part(port);
  receiver.kill();
}
