// npm run bench: every figure the project promises, measured in one run, as ratios to a route that does nothing.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres-server.ts';
import { auditVerify } from './audit-verify.ts';
import { compare, createOne, p95, type Route } from './load.ts';
import { type Reviewed, seedReview } from './review.ts';
import { seed } from './seed.ts';
import { type Server, startServer } from './servers.ts';

const STORED = Number(process.env.BENCH_STORED ?? 1_000_000);
const WAITING = Number(process.env.BENCH_WAITING ?? 10_000);
const COUNTED_FOR_SIZE = 100_000;
/** Pages of so many payments are looked at, one after another. */
const LOOKED_AT = 200;
const LOOK_MS = 50;

const PAGE = 'docs/benchmarks.md';
const BESIDE = '## Measured by other commands\n';

const CREATE: Route = { method: 'POST', path: '/v1/payments' };
const LIST: Route = { method: 'GET', path: '/v1/payments?limit=20' };
const read = (id: string): Route => ({ method: 'GET', path: `/v1/payments/${id}` });

interface Line {
  what: string;
  figure: string;
  promise: string;
  kept: boolean;
}
const table: Line[] = [];

function report(what: string, figure: string, promise: string, kept: boolean): void {
  table.push({ what, figure, promise, kept });
  console.log(`${kept ? '✔' : '✘'} ${what.padEnd(58)} ${figure.padEnd(34)} ${promise}`);
}

const workspace = mkdtempSync(join(tmpdir(), 'counterfoil-bench-'));
const directory = (name: string) => join(workspace, name);
const bare = await startServer('bare');

async function ratio(
  what: string,
  server: Server,
  route: Route,
  least: number,
  bareRoute = route,
): Promise<number> {
  const result = await compare(server.port, bare.port, route, bareRoute);
  const rates = `${Math.round(result.ours).toLocaleString('en')} of ${Math.round(result.theirs).toLocaleString('en')}/s`;
  report(what, `${result.ratio.toFixed(2)}  (${rates})`, `≥ ${least}`, result.ratio >= least);
  return result.ratio;
}

async function threeRatios(
  server: Server,
  suffix: string,
  least: { create: number; read: number; list: number },
) {
  const id = await createOne(server.port);
  return {
    create: await ratio(`create, SQLite${suffix}`, server, CREATE, least.create),
    read: await ratio(`read one, SQLite${suffix}`, server, read(id), least.read),
    list: await ratio(`list of 20, SQLite${suffix}`, server, LIST, least.list),
  };
}

/** What an administrator waits for. */
async function reviewPages(server: Server, { waiting, cookie }: Reviewed): Promise<void> {
  const some = Array.from(
    { length: LOOKED_AT },
    (_, i) => waiting[Math.floor((i * waiting.length) / LOOKED_AT)]!,
  );
  const pages: [string, string[]][] = [
    [`queue page, ${waiting.length.toLocaleString('en')} waiting`, ['/console/queue']],
    ['the same with a payment open', some.map((id) => `/console/queue?open=${id}`)],
    ["a payment's page in the console", some.map((id) => `/console/payments/${id}`)],
  ];
  for (const [what, paths] of pages) {
    const ms = await p95(server.port, paths, cookie());
    report(`${what}, p95 in ms`, ms.toFixed(1), `≤ ${LOOK_MS}`, ms <= LOOK_MS);
  }
}

try {
  const empty = await startServer('counterfoil', directory('empty'));
  const fresh = await threeRatios(empty, '', { create: 0.35, read: 0.5, list: 0.25 });

  const id = await createOne(empty.port);
  const page = (query = ''): Route => ({ method: 'GET', path: `/payment.php?payment_id=${id}${query}` });
  await ratio('page of a pending payment', empty, page(), 0.15, read(id));
  await ratio(
    'the same with a transfer and its QR code',
    empty,
    page('&method=bank_transfer'),
    0.05,
    read(id),
  );

  const oneByOne = await startServer('one-commit', directory('one-by-one'));
  const grouped = await compare(empty.port, oneByOne.port, CREATE);
  report(
    'create, against one commit for each request',
    `${grouped.ratio.toFixed(1)} ×`,
    '≥ 5 ×',
    grouped.ratio >= 5,
  );
  await oneByOne.stop();
  await empty.stop();

  const postgres = await startPostgres();
  const onPostgres = await startServer('counterfoil', directory('postgres'), postgres.url);
  await ratio('create, PostgreSQL', onPostgres, CREATE, 0.18);
  await onPostgres.stop();
  await postgres.stop();

  await seed(directory('size'), COUNTED_FOR_SIZE);
  const bytes = statSync(join(directory('size'), 'counterfoil.sqlite')).size / COUNTED_FOR_SIZE;
  report(
    'bytes on disk for a payment, indexes and audit included',
    String(Math.round(bytes)),
    '≤ 1150',
    bytes <= 1150,
  );

  const full = directory('full');
  const seconds = await seed(full, STORED);
  console.log(`  ${STORED.toLocaleString('en')} payments stored in ${Math.round(seconds)} s`);
  const reviewed = await seedReview(full, WAITING);
  // The first start of a store that keys were never sealed in writes the file anew, once: it is not the one that is promised.
  await (await startServer('counterfoil', full)).stop();
  const stored = await startServer('counterfoil', full);
  report('ready with them stored, ms', String(Math.round(stored.readyMs)), '≤ 1000', stored.readyMs <= 1000);
  const least = { create: fresh.create * 0.85, read: fresh.read * 0.85, list: fresh.list * 0.85 };
  const round = (n: number) => Math.round(n * 100) / 100;
  await threeRatios(stored, ' with them stored', {
    create: round(least.create),
    read: round(least.read),
    list: round(least.list),
  });
  const resident = stored.residentMb();
  report('resident memory after that, MB', String(Math.round(resident)), '≤ 200', resident <= 200);
  await reviewPages(stored, reviewed);
  await stored.stop();
  const { seconds: verifyS } = auditVerify(full);
  report(
    `audit verify of ${STORED.toLocaleString('en')} entries, s`,
    verifyS.toFixed(1),
    '≤ 15',
    verifyS <= 15,
  );
} finally {
  await bare.stop();
  rmSync(workspace, { recursive: true, force: true });
}

if (process.argv.includes('--write')) writeFileSync(PAGE, document());
process.exit(table.every((line) => line.kept) ? 0 : 1); // whatever a library's exit hook would make of it

/** The page with what was measured now. What follows `BESIDE` was measured by other commands, and stays. */
function document(): string {
  const before = readFileSync(PAGE, 'utf8');
  const beside = before.slice(before.indexOf(BESIDE));
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim();
  return `# Benchmarks

\`npm run bench -- --write\` measures all of this in one run and writes this page. Ratios are to a Fastify route of the same
body and answer that checks, stores and logs nothing (\`bench/bare-server.ts\`), 64 connections from a second process on the
same machine, the two servers in turn, medians of the rounds. On SQLite, too, what is answered is on disk.

Machine: ${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}, commit ${commit}.

| What | Measured | Promised | Kept |
|---|---|---|---|
${table.map(({ what, figure, promise, kept }) => `| ${what} | ${figure} | ${promise} | ${kept ? 'yes' : 'no'} |`).join('\n')}

${beside}`;
}
