// The full disk's campaign, its clients: they create and remember, and know what a full disk must leave to them.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, KEY } from '../support/harness.ts';
import { type LoadClient, loadClient } from '../support/load-client.ts';
import { verifySqlite, viewSqlite } from '../support/read-only-store.ts';
import type { ServerProcess } from '../support/server-process.ts';
import type { SmallDisk } from './small-disk.ts';

export const CLIENTS = 16;
/** Acknowledged creates between two fills: enough to be under load, few enough that the disk lasts for all cycles. */
const ACKNOWLEDGED_PER_CYCLE = 150;
/** More creates, one after the other, than the write-ahead log has room for: each takes some pages of its own. */
const TAKEN_MAXIMUM = 4000;

export interface Load {
  /** The payments by their ids, as JSON text. */
  acknowledged: Map<string, string>;
  refused: number;
}

/** Clients that create as long as the disk takes it, and rest a moment where it does not. */
export function startLoad(client: LoadClient, stop: AbortSignal, load: Load, cycle: number) {
  const { promise: warm, resolve } = Promise.withResolvers<void>();
  let acknowledged = 0;
  const work = async (_: unknown, worker: number) => {
    for (let number = 0; !stop.aborted; number++) {
      const body = { amount: 12.34, merchant_reference: `full-${cycle}-${worker}-${number}` };
      const answer = await client.post('/v1/payments', body);
      assert.ok(answer, 'every request is answered');
      if (answer.status === 201) {
        const { data } = JSON.parse(answer.text);
        load.acknowledged.set(data.id, JSON.stringify(data));
        if (++acknowledged >= ACKNOWLEDGED_PER_CYCLE) resolve();
      } else {
        assert.equal(answer.status, 503, answer.text);
        load.refused++;
      }
      if (acknowledged >= ACKNOWLEDGED_PER_CYCLE) await delay(20); // enough to notice what happens
    }
  };
  const over = Promise.all(Array.from({ length: CLIENTS }, work));
  return { warm: Promise.race([warm, over]), over };
}

/** One create, whose answer is looked at whole. */
export const create = ({ origin }: ServerProcess) =>
  ask(origin, '/v1/payments', { method: 'POST', body: { amount: 1 } });

/** The status of a `GET`. */
export const statusOf = async ({ origin }: ServerProcess, path: string) => (await ask(origin, path)).status;

/** What a full disk leaves: a write says so and when to come again, health too, and everything can be read. */
export async function requireReadOnly(server: ServerProcess, id: string, created: string): Promise<void> {
  let refused = await create(server);
  // The log is folded now and then, and written over from its beginning: what fits into it is taken, and is on the disk.
  for (let taken = 0; refused.status === 201; taken++) {
    assert.ok(taken < TAKEN_MAXIMUM, 'a full disk takes no more than its log has room for');
    refused = await create(server);
  }
  assert.equal(refused.status, 503);
  assert.equal(refused.json.error.code, 'unavailable');
  assert.equal(refused.headers.get('retry-after'), '1');
  const { data } = (await ask(server.origin, `/v1/payments/${id}`)).json;
  assert.equal(JSON.stringify(data), created);
  const page = new URL(data.checkout_url);
  assert.equal(await statusOf(server, page.pathname + page.search), 200);
  assert.equal(await statusOf(server, '/health'), 503);
  const ready = await ask(server.origin, '/health/ready');
  assert.deepEqual([ready.status, ready.json.failing], [503, ['store_writable']]);
  assert.equal(server.child.exitCode, null, 'the process lives');
}

/** Every acknowledged payment is there, to the byte. */
export async function requireAll(server: ServerProcess, load: Load, key = KEY): Promise<void> {
  const client = loadClient(server.origin, key, CLIENTS);
  const lost: string[] = [];
  for (const [id, text] of load.acknowledged) {
    const answer = await client.get(`/v1/payments/${id}`);
    if (answer?.status !== 200 || JSON.stringify(JSON.parse(answer.text).data) !== text) lost.push(id);
  }
  client.close();
  assert.deepEqual(lost, [], 'nothing that was acknowledged is lost');
}

/** What a stop leaves: a folded log, an intact file, a history that verifies. */
export async function requireSound({ directory }: SmallDisk): Promise<void> {
  const file = join(directory, 'counterfoil.sqlite');
  assert.ok(!existsSync(`${file}-wal`), 'the write-ahead log is folded');
  requireWholeLines(join(directory, 'checkpoints.jsonl'));
  const rows = await viewSqlite(file, (view) =>
    view.query<{ integrity_check: string }>('pragma integrity_check'),
  );
  assert.deepEqual(
    rows.map((row) => row.integrity_check),
    ['ok'],
  );
  await verifySqlite(file, directory);
}

/** Checkpoints that could not be written left nothing of themselves. */
export function requireWholeLines(file: string): void {
  if (!existsSync(file)) return;
  const lines = readFileSync(file, 'utf8').split('\n');
  assert.equal(lines.pop(), '', 'no half line');
  for (const line of lines) JSON.parse(line);
}
