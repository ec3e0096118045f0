// Fuzz: whatever is sent, the service answers in its own words, never 5xx, and stays whole, lean and silent about what it was sent.
//
// Millions: COUNTERFOIL_RUNS=10000000 node --expose-gc test/campaigns/fuzz.ts
// Again:    COUNTERFOIL_SEED=(as printed), with the same COUNTERFOIL_RUNS.
// A process of its own, where a stray exception ends the run and memory is the service's alone but for its callers'.
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { STATUS_OF_CODE } from '../../src/lib/errors.ts';
import { HOUR_MS } from '../../src/lib/time.ts';
import { paymentAnswerSchema } from '../../src/payments/api/payments.ts';
import { errorSchema } from '../../src/web/errors.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { mutateBytes, mutateRequest } from '../support/mutate.ts';
import { CANARY, CARD_NUMBERS, MALFORMED } from '../support/nasty-values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import {
  encodeRequest,
  exchange,
  parseAnswers,
  type WireAnswer,
  type WireRequest,
} from '../support/wire-client.ts';
import { fill, type Known, request } from './generate.ts';

const SHORT_RUNS = 35_000;
/** From so many on the process has grown as much as it will. */
const WARM_RUNS = 65_000;
/** Of so many requests, one goes over a socket, broken in its bytes. */
const ONE_BY_SOCKET_IN = 33;
/** Fresh requests in a batch, and how many mutants each leaves. */
const FRESH = 250;
const MUTANTS = 7;
const AT_ONCE = 64;
const IDS_KNOWN = 100;
/** Memory may grow until so much of the work is done, when caches are warm; from then on no further than this. */
const WARM_AFTER = 0.25;
const RSS_GROWTH_MAXIMUM = 50 * 1024 * 1024;
const HEAP_GROWTH_MAXIMUM = 5 * 1024 * 1024;
/** The parser reads no longer request line. */
const PARSED_PATH_MAXIMUM = 16 * 1024;
/** A socket's client that has heard nothing for so long hangs up. */
const HANG_UP_AFTER_MS = 100;

/** Names of what must never leave the process: code, statements, files, and what was submitted. */
const TELL_TALES = new RegExp(
  [
    CANARY,
    ...CARD_NUMBERS,
    'node_modules',
    'file:///',
    'src/',
    '\\.ts:\\d',
    'SQLITE',
    'select ',
    'insert ',
  ].join('|'),
);

/** What a page is sent with, besides 200: the payment's state, or what is wrong with a form. */
const PAGE_STATUSES = new Set([400, 403, 404, 408, 410, 413, 414, 415, 422, 429, 431]);

/** Throws where an answer is not one that the interface allows, whatever was asked. */
function check(answer: WireAnswer): void {
  const { status, headers, body } = answer;
  assert.ok(status < 500, `answered ${status}: ${body}`);
  assert.match(headers.get('x-request-id') ?? 'none', /^req_[0-9a-z]{16}$/);
  const type = headers.get('content-type');
  if (status === 201) paymentAnswerSchema.parse(JSON.parse(body));
  if (status < 400) return;
  if (type === 'text/html; charset=utf-8') {
    assert.ok(PAGE_STATUSES.has(status), `a page with ${status}`);
    return;
  }
  assert.equal(type, 'application/json; charset=utf-8');
  if (body === '') return; // to HEAD
  const { error } = errorSchema.parse(JSON.parse(body));
  assert.equal(status, STATUS_OF_CODE[error.code], error.code);
  assert.equal(
    error.details !== undefined,
    error.code === 'validation_failed',
    'details go with validation alone',
  );
  assert.notEqual(Object.keys(error.details ?? { some: '' }).length, 0);
  assert.doesNotMatch(body, TELL_TALES);
}

const runs = Number(process.env.COUNTERFOIL_RUNS) || SHORT_RUNS;
const random = new SeededRandom();
const { seed } = random;
const collectGarbage = globalThis.gc;
assert.ok(collectGarbage, 'run with --expose-gc');
const statuses: Record<number, number> = {};
const known: Known & { ids: string[] } = { ids: [], cursor: undefined };
const service: Harness = await startHarness('sqlite');

function learn(answer: WireAnswer): void {
  statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
  if (answer.status !== 201) return;
  known.ids.push(JSON.parse(answer.body).data.id);
  if (known.ids.length > IDS_KNOWN) known.ids.shift();
}

async function inject(wire: WireRequest): Promise<void> {
  const headers: Record<string, string | string[]> = { host: 'pay.test' };
  for (const [name, value] of wire.headers) {
    const same = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = same === undefined ? value : [same, value].flat();
  }
  const options = { method: wire.method, url: wire.path, headers, payload: wire.body, validate: false };
  const answer = await service.service.app.inject(options as InjectOptions);
  const told = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
  const read = { status: answer.statusCode, headers: new Map(told), body: answer.payload };
  try {
    check(read);
  } catch (error) {
    const shown = inspect({ ...wire, body: wire.body?.toString() }, { maxStringLength: 2000 });
    throw new Error(`seed ${seed}: ${shown}\nanswered ${read.status} ${read.body}`, { cause: error });
  }
  learn(read);
}

async function overSocket(bytes: Uint8Array): Promise<void> {
  const port = Number(new URL(service.origin).port);
  const answered = await exchange(port, bytes, HANG_UP_AFTER_MS);
  try {
    for (const answer of parseAnswers(answered)) {
      check(answer);
      learn(answer);
    }
  } catch (error) {
    const shown = inspect(Buffer.from(bytes).toString('latin1'), { maxStringLength: 4000 });
    throw new Error(`seed ${seed}, sent ${shown}\nanswered ${answered}`, { cause: error });
  }
}

/** Runs jobs, some at once, so that they share commits and overtake one another as in life. */
async function all<T>(jobs: T[], run: (job: T) => Promise<void>): Promise<void> {
  const queue = jobs.values();
  const hand = async () => {
    for (const job of queue) await run(job);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, hand));
}

interface Memory {
  rss: number;
  heap: number;
}

/** What is held now, in bytes, garbage aside. */
function memory(): Memory {
  collectGarbage!();
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heap: heapUsed };
}

/** What the service said to its log: no defect, and nothing of what it was sent. */
function checkLog(): void {
  for (const line of service.logged.splice(0)) {
    const { level, msg } = JSON.parse(line);
    assert.ok(level < 40, `logged: ${line}`);
    assert.match(msg, /^(request|a letter lies at \/dev\/mail)$/);
    assert.doesNotMatch(line, TELL_TALES);
  }
}

async function campaign(): Promise<void> {
  console.log(`${runs} requests, seed ${seed}`);
  let injected = 0;
  let broken = 0;
  let warm: Memory | undefined;
  let peakRss = 0;
  for (let batch = 0; injected < runs; batch++) {
    const fresh = fc.sample(request, { numRuns: FRESH, seed: seed + batch });
    const mutants = fresh.flatMap((one) =>
      Array.from({ length: MUTANTS }, () => mutateRequest(one, fresh, random)),
    );
    const wires = [...fresh, ...mutants].map((one) => fill(one, known));
    // What the injecting client cannot write as a request target, and what no parser lets pass, is for sockets.
    const writable = wires.filter(
      ({ path }) => path.length < PARSED_PATH_MAXIMUM && URL.canParse(path, 'http://pay.test'),
    );
    const templates = [...MALFORMED, ...wires.slice(0, 20).map(encodeRequest)];
    const packets = Array.from({ length: writable.length / ONE_BY_SOCKET_IN }, () =>
      mutateBytes(random.pick(templates), random),
    );
    await Promise.all([all(writable, inject), all(packets, overSocket)]);
    injected += writable.length;
    broken += packets.length;

    checkLog();
    service.clock.advance(HOUR_MS);
    if (warm) continue;
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
    if (injected >= runs * WARM_AFTER) warm = { ...memory(), rss: peakRss };
  }
  const end = memory();
  console.log(`${injected} injected, ${broken} broken over sockets: ${JSON.stringify(statuses)}`);
  console.log(`memory when warm ${JSON.stringify(warm)}, at the end ${JSON.stringify(end)}`);
  const isLong = runs >= WARM_RUNS; // the caches of a shorter run are never warm
  assert.ok(!isLong || end.rss - warm!.rss < RSS_GROWTH_MAXIMUM, 'the process grew');
  assert.ok(end.heap - warm!.heap < HEAP_GROWTH_MAXIMUM, 'the heap grew: something is kept of each request');
  for (const status of [200, 201, 400, 401, 404, 409, 410, 413, 414, 415, 422, 431]) {
    assert.ok(statuses[status], `some ${status}`);
  }
  const { payments } = await service.verify();
  assert.ok(payments! > runs / 100, `${payments} payments were made`);
}

try {
  await campaign();
} finally {
  await service.close();
}
