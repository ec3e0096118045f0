// Nodes as operators run them: processes of their own on one PostgreSQL, behind a balancer that sends every request to another.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { freePorts } from '../support/free-ports.ts';
import { type Harness, secretsOf, startHarness, writeConfiguration } from '../support/harness.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

export interface SiteOptions {
  nodes: number;
  /** Chooses which connections the balancer cuts, once `balancer.cutShare` says that some are. */
  random: SeededRandom;
  /** Further lines of the configuration file, which may go on with merchants. */
  configuration?: string;
  /** Where a node finds the database, asked at each of its starts; by default where it is. */
  databaseUrl?: (database_url: string, node: number) => Promise<string>;
}

/** One node: a process that comes and goes, at a port that stays. */
export class NodeProcess {
  readonly port: number;
  readonly #start: () => Promise<ServerProcess>;
  process: ServerProcess | undefined;

  constructor(port: number, start: () => Promise<ServerProcess>) {
    this.port = port;
    this.#start = start;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts it; answers when it is ready. */
  async start(): Promise<void> {
    assert.equal(this.process, undefined, 'the node runs');
    this.process = await this.#start();
  }

  /** Ends it, and answers with the exit code: null where a signal ended it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const { process } = this;
    this.process = undefined;
    return process!.end(signal);
  }
}

export interface Site {
  nodes: readonly NodeProcess[];
  balancer: Balancer;
  /**
   * The service once more, within the tests' process and not behind the balancer, on the same database: to look into the store, and for
   * what operators do with commands. Its requests go to the balancer.
   */
  harness: Harness;
  /** Keeps every node from committing anything until it is called back. */
  holdCommits(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Starts nodes, and the balancer in front of them. What was begun is ended again where one of them does not start. */
export async function startSite({ nodes: count, random, ...options }: SiteOptions): Promise<Site> {
  const balancer = await startBalancer({ cut: { share: 0, random } });
  const lines = `base_url: ${balancer.origin}\nlog_level: error\nnodes: ${count}\n`;
  const configuration = (options.configuration ?? '') + lines;
  const harness = await startHarness('postgres', { configuration });
  harness.origin = balancer.origin;
  const { store } = harness;
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-nodes-'));
  const config = writeConfiguration(store, 'development', configuration);
  const nodes = (await freePorts(count)).map((port, node) => {
    const storage = join(folder, String(node));
    return new NodeProcess(port, async () => {
      const database_url = (await options.databaseUrl?.(store.database_url!, node)) ?? store.database_url;
      return startServerProcess({ config, port, storage, database_url, env: secretsOf(store) });
    });
  });

  async function close(): Promise<void> {
    await balancer.close();
    const codes = await Promise.all(nodes.filter((node) => node.process).map((node) => node.end('SIGTERM')));
    rmSync(folder, { recursive: true, force: true });
    await harness.close();
    assert.ok(
      codes.every((code) => code === 0),
      `nodes ended with ${codes}`,
    );
  }
  const starts = await Promise.allSettled(nodes.map((node) => node.start()));
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed) {
    await close();
    throw failed.reason;
  }
  for (const { port } of nodes) balancer.add(port);
  return { nodes, balancer, harness, holdCommits: () => holdCommits(store.database_url!), close };
}

/** Holds the row that every commit locks last. */
async function holdCommits(database_url: string): Promise<() => Promise<void>> {
  const client = new pg.Client(database_url);
  await client.connect();
  await client.query('begin');
  await client.query('update journal_head set entries = entries where id = 1');
  let released: Promise<void> | undefined;
  return () => (released ??= client.query('rollback').then(() => client.end()));
}
