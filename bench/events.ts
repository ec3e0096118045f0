// node bench/events.ts: how late events arrive with 1,000 streams open on one node, and what 10,000 reads that wait weigh.
import { type ClientRequest, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile, startShops } from './shops.ts';

const MERCHANTS = 10;
const STREAMS = 1000;
const WAITS = 10_000;
const PAYMENTS = 200;
/** Between two payments. */
const PAUSE_MS = 50;
const AT_ONCE = 200;

const shops = await startShops(MERCHANTS);
const { port, keys, residentMb } = shops;

/** Sends a request on a connection of its own. Resolves with its answer's first bytes, and calls `hear` with all of them. */
function send(path: string, key: string, headers: Record<string, string>, hear: (text: string) => void) {
  const outgoing = request({
    port,
    path,
    agent: false,
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  outgoing.on('error', () => {});
  outgoing.on('response', (response) =>
    response
      .setEncoding('utf8')
      .on('data', hear)
      .on('error', () => {}),
  );
  outgoing.end();
  return outgoing;
}

const create = async (key: string) => (await shops.post('/v1/payments', key, { amount: 1 })).id;

async function streams(): Promise<void> {
  const latencies: number[] = [];
  const answeredAt = new Map<string, number>();
  let begun = 0;
  const hear = (text: string) => {
    if (text.startsWith('retry')) begun += 1;
    for (const [, id] of text.matchAll(/"payment_id":"(\w+)"/g))
      latencies.push(performance.now() - (answeredAt.get(id!) ?? performance.now()));
  };
  const open: ClientRequest[] = [];
  for (let i = 0; i < STREAMS; i++) {
    open.push(send('/v1/events/stream', keys[i % MERCHANTS]!, {}, hear));
    if (i % AT_ONCE === 0) await sleep(100);
  }
  while (begun < STREAMS) await sleep(10);
  for (let i = 0; i < PAYMENTS; i++) {
    answeredAt.set(await create(keys[i % MERCHANTS]!), performance.now());
    await sleep(PAUSE_MS);
  }
  await sleep(1500);
  const expected = (PAYMENTS * STREAMS) / MERCHANTS;
  latencies.sort((one, other) => one - other);
  console.log(
    `${STREAMS} streams: ${latencies.length} of ${expected} events; p50 ${quantile(latencies, 0.5)} ms, p99 ${quantile(latencies, 0.99)} ms, latest ${quantile(latencies, 1)} ms after the create was answered; ${residentMb().toFixed(0)} MB`,
  );
  for (const one of open) one.destroy();
}

async function waits(): Promise<void> {
  const ids = await Promise.all(keys.map(create));
  await sleep(2000);
  const before = residentMb();
  let answers = 0;
  const hear = () => {
    answers += 1;
  };
  const open: ClientRequest[] = [];
  for (let i = 0; i < WAITS; i++) {
    const which = i % MERCHANTS;
    open.push(send(`/v1/payments/${ids[which]}`, keys[which]!, { prefer: 'wait=50' }, hear));
    if (i % AT_ONCE === 0) await sleep(100);
  }
  await sleep(5000);
  const held = residentMb();
  console.log(
    `${WAITS} reads that wait: ${held.toFixed(0)} MB resident, ${before.toFixed(0)} MB before; ${answers} were answered early`,
  );
  for (const one of open) one.destroy();
}

try {
  await streams();
  await waits();
} finally {
  await shops.stop();
}
