// Nodes that start, stop and are killed under load: what was acknowledged stays, and whoever repeats with a key settles.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { untilRefused } from '../support/free-ports.ts';
import { gaveUp, type LoadAnswer, loadClient } from '../support/load-client.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { KEYS } from '../support/shop.ts';
import { CrashLoad } from './crash-load.ts';
import type { NodeProcess, Site } from './node-processes.ts';
import { Watch } from './watched-client.ts';

/** Of a merchant that nobody else creates payments for: all that it has must be the load's. */
const KEY = KEYS.card;
const CLIENTS = 12;
/** Between two requests of a client: the load is steady rather than all that the machine can do. */
const PAUSE_MS = 30;
const BETWEEN_MS = { from: 30, to: 250 };
/** Requests that a node has accepted when it is told to stop. */
const ACCEPTED = 8;
const LOSSES_SHOWN = 5;

/** Lets `count` things happen to the nodes, one after the other, and looks for losses. Gives what there was to see. */
export async function comeAndGo(site: Site, random: SeededRandom, count: number) {
  const did = { started: 0, stopped: 0, killed: 0 };
  const watch = new Watch();
  const client = watch.over(loadClient(site.balancer.origin, KEY, CLIENTS), PAUSE_MS);
  const load = new CrashLoad(random);
  const enough = new AbortController();
  const round = load.run(client, CLIENTS, enough.signal, { repeating: true });
  await round.firstAcknowledgement;

  async function start(node: NodeProcess): Promise<void> {
    await node.start();
    site.balancer.add(node.port);
    did.started += 1;
  }
  /** Answers when every client knows what became of its request to a node that is gone. */
  async function left(node: NodeProcess): Promise<void> {
    while (site.balancer.busy(node.port) > 0) await delay(5);
    await delay(2 * PAUSE_MS);
  }
  async function kill(node: NodeProcess): Promise<void> {
    const answers = await endAtWork(site, node, 'SIGKILL', `killed-${random.seed}-${did.killed}`);
    for (const answer of answers)
      assert.ok(!answer || gaveUp(answer), `answered before it could be committed: ${answer?.text}`);
    await left(node);
    did.killed += 1;
  }
  async function stop(node: NodeProcess): Promise<void> {
    const before = watch.statuses.none;
    site.balancer.remove(node.port);
    const answers = await endAtWork(site, node, 'SIGTERM', `stopped-${random.seed}-${did.stopped}`);
    for (const answer of answers)
      assert.ok(
        answer?.status === 201 || (answer && gaveUp(answer)),
        `accepted and not answered: ${answer?.text}`,
      );
    await left(node);
    did.stopped += 1;
    if (watch.statuses.none !== before) watch.faults.push('a node that stopped left requests unanswered');
  }
  try {
    for (let event = 0; event < count; event++) {
      await delay(random.between(BETWEEN_MS.from, BETWEEN_MS.to));
      const down = site.nodes.filter((node) => !node.process);
      const up = site.nodes.filter((node) => node.process);
      const may = [...(down.length > 0 ? [start] : []), ...(up.length > 1 ? [stop, kill] : [])];
      const act = random.pick(may);
      await act(random.pick(act === start ? down : up));
    }
    for (const node of site.nodes) if (!node.process) await start(node);
  } finally {
    enough.abort();
  }
  const { acknowledged, unanswered } = await round.finished;
  const { losses } = await load.findLosses(client);
  client.close();
  const shown = [...losses, ...watch.faults].slice(0, LOSSES_SHOWN).join('\n');
  assert.equal(losses.length + watch.faults.length, 0, `seed ${random.seed}:\n${shown}`);
  assert.ok(acknowledged > count, 'much was acknowledged');
  return {
    ...did,
    acknowledged,
    unanswered,
    slowestMs: Math.round(watch.slowestMs),
    answers: watch.statuses,
  };
}

/**
 * Ends a node that has accepted requests and is at them: no commit goes through until it takes no more connections. Gives what they
 * were answered.
 */
async function endAtWork(
  site: Site,
  node: NodeProcess,
  signal: 'SIGTERM' | 'SIGKILL',
  name: string,
): Promise<(LoadAnswer | undefined)[]> {
  const client = loadClient(node.origin, KEY, ACCEPTED + 1);
  const release = await site.holdCommits();
  try {
    const accepted = Array.from({ length: ACCEPTED }, (_, index) =>
      client.post('/v1/payments', { amount: 1, merchant_reference: `${name}-${index}` }),
    );
    // Read behind them: what came before is read by the time that it is answered, and none of it can be done.
    for (let look = 0; look < 2; look++)
      assert.equal((await client.get('/v1/payments?limit=1'))?.status, 200);
    const ended = node.end(signal);
    await untilRefused(node.port);
    await release();
    assert.equal(await ended, signal === 'SIGTERM' ? 0 : null, 'the exit code');
    return await Promise.all(accepted);
  } finally {
    await release();
    client.close();
  }
}
