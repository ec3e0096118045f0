// Two nodes as processes on a primary and its synchronous standby, which they reach over ways that can be cut.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { keyLine, newSecretKey } from '../../src/journal/keys/key-file.ts';
import { verifyHistory } from '../../src/journal/verify.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { freePorts } from '../support/free-ports.ts';
import { writeConfiguration } from '../support/harness.ts';
import { type PostgresHost, startPair } from '../support/postgres-hosts.ts';
import { ROW_CHECKS } from '../support/read-only-store.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { LONGER_THAN_A_TEST_MS } from '../support/waiting.ts';

const NODES = 2;

export interface FailoverSite {
  /** Who is who changes with each failover. */
  primary: PostgresHost;
  standby: PostgresHost;
  nodes: readonly ServerProcess[];
  wayTo(host: PostgresHost): FaultProxy;
  /** Starts one more node, whose connection string names `first` first. */
  startNode(first: PostgresHost): Promise<ServerProcess>;
  /** What is wrong with the history that a host holds, by its own numbers and by what the nodes have signed. */
  findFaults(host: PostgresHost): Promise<string[]>;
  close(): Promise<void>;
}

export async function startFailoverSite(random: SeededRandom): Promise<FailoverSite> {
  const hosts = await startPair();
  const ways = new Map<PostgresHost, FaultProxy>();
  for (const host of hosts) ways.set(host, await FaultProxy.start(host.port, random));
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-failover-'));
  const ports = await freePorts(NODES + 1);
  const env = { COUNTERFOIL_SECRETS_KEY: keyLine(newSecretKey()) };

  /** What answers name is the same whichever node gave them. */
  const lines = `base_url: http://127.0.0.1:${ports[0]}\nlog_level: warn\nnodes: ${NODES}\n`;
  const start = (port: number, storage: string, ordered: readonly PostgresHost[]) => {
    mkdirSync(storage, { mode: 0o700 });
    const store = { engine: 'postgres', storage, database_url: null, drop: async () => {} } as const;
    const config = writeConfiguration(store, 'development', lines);
    const named = ordered.map((host) => `127.0.0.1:${ways.get(host)!.port}`).join(',');
    const database_url = `postgres://postgres@${named}/postgres?target_session_attrs=read-write`;
    return startServerProcess({ config, port, storage, database_url, env });
  };
  const storages = Array.from({ length: NODES }, (_, node) => join(folder, String(node)));
  const nodes = await Promise.all(storages.map((storage, node) => start(ports[node]!, storage, hosts)));
  let fresh = 0;

  return {
    primary: hosts[0],
    standby: hosts[1],
    nodes,
    wayTo: (host) => ways.get(host)!,
    startNode(first) {
      fresh += 1;
      const storage = join(folder, `fresh-${fresh}`);
      return start(ports[NODES]!, storage, [first, ...hosts.filter((host) => host !== first)]);
    },
    async findFaults(host) {
      const faults: string[] = [];
      const [numbers] = await host.query(
        'select count(*)::int as count, min(number)::int as lowest, max(number)::int as highest from audit_entries',
      );
      if (numbers.lowest !== 1 || numbers.highest !== numbers.count)
        faults.push(`the entries have a gap or a double: ${JSON.stringify(numbers)}`);
      const database = await openPostgres(host.url, undefined, LONGER_THAN_A_TEST_MS);
      for (const storage of storages) {
        const verified = verifyHistory(database, readCheckpoints(storage), ROW_CHECKS);
        await verified.catch((error) => faults.push(`history: ${error.message}`));
      }
      await database.close();
      return faults;
    },
    async close() {
      const codes = await Promise.all(nodes.map((node) => node.end('SIGTERM')));
      for (const way of ways.values()) await way.close();
      for (const host of hosts) await host.remove();
      rmSync(folder, { recursive: true, force: true });
      assert.deepEqual(
        codes,
        nodes.map(() => 0),
      );
    },
  };
}
