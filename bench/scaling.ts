// npm run bench:scaling: what one to three nodes on one PostgreSQL do, what each request costs whom, and how far one chain reaches.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import pg from 'pg';
import { startPostgres } from '../test/support/postgres-server.ts';
import { createOne } from './load.ts';
import { BODY, KEY } from './request.ts';
import { seed } from './seed.ts';
import { type Server, startServer } from './servers.ts';

const NODES_MAXIMUM = 3;
const CONNECTIONS = 64;
const WARM_UP_S = 4;
const ROUND_S = Number(process.env.BENCH_ROUND_S ?? 8);
/** Payments that the journal is handed without any HTTP, to see how fast one chain grows. */
const CHAINED = Number(process.env.BENCH_CHAINED ?? 50_000);

const CLOCK_TICK_MS = 1000 / Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout);

/** Processor time that processes have used so far, those of their children that ended included, ms. */
function processorMs(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    for (const index of [11, 12, 13, 14]) ticks += Number(fields[index]); // utime, stime, cutime, cstime (proc_pid_stat(5))
  }
  return ticks * CLOCK_TICK_MS;
}

/** The postmaster and its children. */
function serverProcesses(postmaster: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((pid) => {
    try {
      const parent = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]);
      return pid === postmaster || parent === postmaster;
    } catch {
      return false; // it ended as we looked
    }
  });
}

async function load(servers: readonly Server[], path: string, seconds: number): Promise<number> {
  const post = path === '/v1/payments';
  const results = await Promise.all(
    servers.map(({ port }) =>
      autocannon({
        url: `http://127.0.0.1:${port}${path}`,
        method: post ? 'POST' : 'GET',
        connections: Math.ceil(CONNECTIONS / servers.length),
        duration: seconds,
        headers: {
          authorization: `Bearer ${KEY}`,
          ...(post ? { 'content-type': 'application/json' } : {}),
        },
        ...(post ? { body: JSON.stringify(BODY) } : {}),
      }),
    ),
  );
  const refused = results.reduce((sum, { non2xx, errors }) => sum + non2xx + errors, 0);
  if (refused > 0) throw new Error(`${path}: ${refused} were refused or failed`);
  return results.reduce((sum, { requests }) => sum + requests.total, 0);
}

const workspace = mkdtempSync(join(tmpdir(), 'counterfoil-scaling-'));
const postgres = await startPostgres();
const client = new pg.Client(postgres.url);
await client.connect();
const one = async (sql: string) => Object.values((await client.query(sql)).rows[0])[0] as string;
const dataDirectory = await one('show data_directory');
const postmaster = Number(readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0]);

async function measure(servers: readonly Server[], what: string, path: string): Promise<void> {
  await load(servers, path, WARM_UP_S);
  const nodes = servers.map(({ child }) => child.pid!);
  const database = serverProcesses(postmaster);
  const before = [processorMs(nodes), processorMs(database)];
  const wal = await one('select pg_current_wal_insert_lsn()');
  const seals = Number(await one('select seals from journal_head'));
  const done = await load(servers, path, ROUND_S);
  const sealed = Number(await one('select seals from journal_head')) - seals;
  const walBytes = Number(await one(`select pg_current_wal_insert_lsn() - '${wal}'::pg_lsn`));
  const [node, theirs] = [processorMs(nodes) - before[0]!, processorMs(database) - before[1]!];
  const perRequest = (ms: number) => `${Math.round((ms * 1000) / done)} µs`;
  const more =
    sealed > 10
      ? `, ${(done / sealed).toFixed(0)} a commit, ${Math.round(walBytes / done)} bytes of WAL each`
      : '';
  console.log(
    `${servers.length} ${servers.length === 1 ? 'node ' : 'nodes'}  ${what.padEnd(7)} ${Math.round(done / ROUND_S).toLocaleString('en')}/s; ` +
      `processor time each: node ${perRequest(node)}, PostgreSQL ${perRequest(theirs)}${more}`,
  );
}

try {
  console.log(
    `Machine: ${cpus().length} × ${cpus()[0]?.model.trim()}; nodes, PostgreSQL and clients share it.`,
  );
  const servers: Server[] = [];
  for (let nodes = 1; nodes <= NODES_MAXIMUM; nodes++) {
    const storage = join(workspace, `node-${nodes}`);
    mkdirSync(storage, { mode: 0o700 });
    if (nodes > 1) cpSync(join(workspace, 'node-1', 'secrets.key'), join(storage, 'secrets.key')); // all nodes have the same keys
    servers.push(await startServer('counterfoil', storage, postgres.url));
    await measure(servers, 'creates', '/v1/payments');
    await measure(servers, 'reads', `/v1/payments/${await createOne(servers[0]!.port)}`);
  }
  for (const server of servers) await server.stop();
  await client.query('vacuum analyze');
  const bytes = Number(await one('select pg_database_size(current_database())'));
  const payments = Number(await one('select count(*) from payments'));
  console.log(
    `${payments.toLocaleString('en')} payments stored: ${Math.round(bytes / payments)} bytes each, indexes and audit included`,
  );
  await client.query('create database chained');
  const url = new URL(postgres.url);
  url.pathname = '/chained';
  const seconds = await seed(join(workspace, 'chained'), CHAINED, url.href);
  console.log(
    `one chain, without HTTP: ${Math.round(CHAINED / seconds).toLocaleString('en')} payments/s in commits of 256`,
  );
} finally {
  await client.end();
  await postgres.stop();
  rmSync(workspace, { recursive: true, force: true });
}
