// Ten times as many requests as can be served: as many are served as ever, nobody waits in vain, and soon after all is as before.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-ports.ts';
import { ask, KEY, writeConfiguration } from '../support/harness.ts';
import { NODE_ARGUMENTS } from '../support/node-arguments.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { ENGINES, type Engine, temporaryStore } from '../support/stores.ts';
import { processorMs, residentMib, runApart } from './apart.ts';
import type { Flood, Flooded } from './flood.ts';

/** How long the flood lasts, seconds. */
const LONG_S = Number(process.env.COUNTERFOIL_RUNS);
const FLOOD_MS = (LONG_S || 3) * 1000;
const PEAK_MS = LONG_S ? 10_000 : 1500;
const WARM_UP_MS = LONG_S ? 5000 : 1000;
const PEAK_CONNECTIONS = 256;
const TIMES_PEAK = 10;
/** An arrival that finds all of them waiting for an answer is one too many for the flood itself, as it is for a proxy. */
const FLOOD_CONNECTIONS = 6000;
const GOODPUT_MINIMUM = 0.8;
/** A flood that stood still for longer tells nothing of the server. */
const STILL_MAXIMUM_MS = 2000;
const RSS_MAXIMUM_MIB = 700;
const READY_EACH_MS = 50;
/** Back to what it was, but for what a machine that others use may add. */
const CALM_MS = 100;
const CALM_WITHIN_MS = 2000;
const CALM_ANSWERS = 5;

/**
 * Gives the server a processor of its own, and the floods, which this process starts, the others: they would take from it what
 * they measure. Whether that can be done here.
 */
function setApart(server: ServerProcess): boolean {
  const last = availableParallelism() - 1;
  const pin = (pid: number, processors: string) =>
    spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', processors, String(pid)]).status === 0;
  return last > 0 && pin(server.pid, '0') && pin(process.pid, `1-${last}`);
}

/** Floods a server; besides what the flood tells: milliseconds of processor time that the server had meanwhile. */
async function flood(server: ServerProcess, orders: Flood): Promise<Flooded & { processor: number }> {
  const { there, gone } = runApart<Flooded>('./flood.ts', orders);
  await there;
  const before = processorMs(server.pid);
  const told = await gone;
  return { ...told, processor: processorMs(server.pid) - before };
}

/** Creates for each second of processor time: what others do on the machine takes nothing from that. */
const economy = ({ answers, processor }: Flooded & { processor: number }) =>
  ((answers[201] ?? 0) / processor) * 1000;

const perSecond = ({ answers, tookMs }: Flooded, status: number) => ((answers[status] ?? 0) / tookMs) * 1000;
const quantile = (ascending: number[], q: number) =>
  Math.round(ascending[Math.ceil(ascending.length * q) - 1] ?? 0);

for (const engine of ENGINES) {
  describe(`overload on ${engine}`, () => {
    const skip = engine === 'postgres' && !LONG_S ? 'the long form alone: set COUNTERFOIL_RUNS' : false;
    test(`${TIMES_PEAK} times the peak for ${FLOOD_MS / 1000} s`, { skip, timeout: Infinity }, (context) =>
      campaign(engine, (line) => context.diagnostic(line)),
    );
  });
}

async function campaign(engine: Engine, report: (line: string) => void): Promise<void> {
  const store = await temporaryStore(engine);
  const { storage, database_url } = store;
  const port = await freePort();
  const config = writeConfiguration(store, 'development', 'log_level: error\n');
  const server = await startServerProcess({
    ...{ config, port, storage, database_url },
    nodeArguments: NODE_ARGUMENTS,
  });
  try {
    const isApart = setApart(server);
    const orders = { port, key: KEY, connections: PEAK_CONNECTIONS };
    await flood(server, { ...orders, durationMs: WARM_UP_MS });
    const best = await flood(server, { ...orders, durationMs: PEAK_MS });
    const peak = perSecond(best, 201);

    const rate = Math.round(TIMES_PEAK * peak);
    const orderedFlood = { ...orders, connections: FLOOD_CONNECTIONS, perSecond: rate, durationMs: FLOOD_MS };
    const flooding = flood(server, orderedFlood);
    const [flooded, watched] = await Promise.all([flooding, watch(server, flooding)]);
    const calmMs = flooded.drainMs + (await untilCalm(server));
    const goodput = perSecond(flooded, 201);
    const share = isApart ? goodput / peak : economy(flooded) / economy(best);
    const refused = perSecond(flooded, 503) + perSecond(flooded, 429);
    const { takenMs, refusedMs, unsent, timedOut, broken, withoutRetryAfter, stillMs } = flooded;
    report(
      `peak ${Math.round(peak)}/s; ${rate}/s arrive at ${FLOOD_CONNECTIONS} connections: goodput ${Math.round(goodput)}/s ` +
        `(${Math.round((goodput / peak) * 100)} % of it; ${Math.round((economy(flooded) / economy(best)) * 100)} % for the same processor time), p50 ${quantile(takenMs, 0.5)} ms, p99 ${quantile(takenMs, 0.99)} ms; ` +
        `refused ${Math.round(refused)}/s, p99 ${quantile(refusedMs, 0.99)} ms; ${Math.round((unsent / flooded.tookMs) * 1000)}/s found no connection; ` +
        `${timedOut} timed out, ${broken} broken; the flood itself stood still for ${Math.round(stillMs)} ms at most`,
    );
    report(
      `/health/ready meanwhile: ${watched.readyMs.length} asked, p99 ${quantile(watched.readyMs, 0.99)} ms; resident memory ` +
        `${Math.round(watched.mib)} MiB at most; calm ${Math.round(calmMs)} ms after`,
    );
    assert.ok(stillMs < STILL_MAXIMUM_MS, `the flood stood still for ${stillMs} ms: run it again`);
    assert.ok(
      share >= GOODPUT_MINIMUM,
      `${share} of the peak, ${isApart ? 'on a processor of its own' : 'for the same processor time'}`,
    );
    const known = ['201', '429', '503'];
    assert.deepEqual(
      Object.keys(flooded.answers).filter((status) => !known.includes(status)),
      [],
    );
    assert.deepEqual(
      { timedOut, broken, withoutRetryAfter },
      { timedOut: 0, broken: 0, withoutRetryAfter: 0 },
    );
    assert.deepEqual([...watched.statuses], [200], '/health/ready says what holds: requests are taken');
    assert.ok(watched.mib < RSS_MAXIMUM_MIB, `${watched.mib} MiB`);
    assert.ok(calmMs < CALM_WITHIN_MS, `it took ${calmMs} ms`);
    assert.equal(await server.end('SIGTERM'), 0, server.output.join('\n'));
  } finally {
    if (server.child.exitCode === null) await server.end('SIGKILL');
    await store.drop();
  }
}

/** Asks whether the node is ready, and looks at its memory, until `end`. */
async function watch(server: ServerProcess, end: Promise<unknown>) {
  const watched = { readyMs: [] as number[], statuses: new Set<number>(), mib: 0 };
  let goesOn = true;
  end.finally(() => (goesOn = false)).catch(() => {});
  for (; goesOn; await delay(READY_EACH_MS)) {
    const begun = performance.now();
    const response = await fetch(`${server.origin}/health/ready`);
    await response.text();
    watched.readyMs.push(performance.now() - begun);
    watched.statuses.add(response.status);
    watched.mib = Math.max(watched.mib, residentMib(server.pid));
  }
  watched.readyMs.sort((a, b) => a - b);
  return watched;
}

/** Milliseconds until several creates in a row are answered as quickly as ever. */
async function untilCalm(server: ServerProcess): Promise<number> {
  const begun = performance.now();
  for (let calm = 0, since = begun; ; ) {
    const sent = performance.now();
    if (calm === 0) since = sent;
    const { status } = await ask(server.origin, '/v1/payments', { method: 'POST', body: { amount: 1 } });
    calm = status === 201 && performance.now() - sent < CALM_MS ? calm + 1 : 0;
    if (calm === CALM_ANSWERS) return since - begun;
    if (performance.now() - begun > 10 * CALM_WITHIN_MS) return Number.POSITIVE_INFINITY;
  }
}
