// What a create costs the main thread, whole and with parts left out in turn; an argument names another version to compare.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyProgram, type ProgramCopy } from '../test/support/program-copy.ts';
import { requestsDone } from './load.ts';
import { type Server, startServer } from './servers.ts';

const WARM_UP_S = 3;
const ROUND_S = Number(process.env.BENCH_ROUND_S ?? 2);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const NS_PER_US = 1000;
const CREATE = { method: 'POST', path: '/v1/payments' } as const;

type Change = readonly [source: string, from: string, to: string];

const TEXT_LENGTH = 'if (text.length < FEWEST_DIGITS) return false;';
const CHECKED = 'withIdempotencyKeyChecked(request, () => parsePaymentRequest(body, { strict, httpsOnly }))';
const WANTED = `{ ...(body as any), amount_minor: 4990, locale: null, expires_in: null }`;
const INDEXES = ['payments_by_reference', 'payments_by_status', 'payments_pending', 'payments_by_amount'];
const MORE_INDEXES = [...INDEXES, 'audit_entries_by_subject', 'seals_by_last_entry'];
const LAST_TABLE = 'create table webhook_attempts (';
const withoutIndexes = (names: readonly string[]): Change => [
  'src/store/migrations/0001-schema.sql',
  LAST_TABLE,
  `${names.map((name) => `drop index ${name};`).join('\n')}\n${LAST_TABLE}`,
];

/** What is left out, and how the source then reads. */
const LEFT_OUT: readonly (readonly [what: string, ...changes: Change[]])[] = [
  ['check of the request, all of it', ['src/payments/api/payments.ts', CHECKED, WANTED]],
  ['search for card numbers', ['src/lib/card-number.ts', TEXT_LENGTH, 'if (text) return false;']],
  ['search for names of card fields', ['src/payments/request.ts', '  refuseCardFields(fields, faults);', '']],
  [
    'names of ignored fields (test keys)',
    ['src/payments/api/payments.ts', 'STRICT_APPLIED : ignoredIn(body, request)', 'STRICT_APPLIED : {}'],
  ],
  [
    'line of the log',
    ['src/web/request-log.ts', '  const { noted } = request;', '  return;\n  const { noted } = request;'],
  ],
  [
    'insert of the payment',
    [
      'src/journal/transaction.ts',
      'for (const [table, rows] of tables) await this.#queryable.insert(table, rows);',
      '',
    ],
  ],
  [
    'insert of the entry',
    ['src/journal/transaction.ts', "await this.#queryable.insert('audit_entries', entries);", ''],
  ],
  [
    'columns that are null',
    [
      'src/store/sqlite-connection.ts',
      'Object.keys(rows[0]!)',
      'Object.keys(rows[0]!).filter((name) => (rows[0] as Row)[name] !== null)',
    ],
  ],
  ['letters read out of the history', ['src/operate/mail.ts', '  worker.start();', '']],
  ['index by amount', withoutIndexes(['payments_by_amount'])],
  ['index by status', withoutIndexes(['payments_by_status'])],
  ['all six indexes besides the keys', withoutIndexes(MORE_INDEXES)],
  [
    "the row's digest",
    [
      'src/journal/audit-entry.ts',
      'return sha256(JSON.stringify(values.map(written)));',
      "return 'x'.repeat(64);",
    ],
  ],
];

/** Processor time of a process's main thread so far, in nanoseconds (proc_pid_schedstat). */
const mainThreadNs = ({ child: { pid } }: Server) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]);

async function microseconds(server: Server, seconds: number): Promise<number> {
  const before = mainThreadNs(server);
  const done = await requestsDone(server.port, CREATE, seconds);
  return (mainThreadNs(server) - before) / done / NS_PER_US;
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

const workspace = mkdtempSync(join(tmpdir(), 'counterfoil-create-cost-'));
const copies: ProgramCopy[] = [];
const measured: { what: string; server: Server; us: number[] }[] = [];

async function add(what: string, command?: string): Promise<void> {
  const storage = join(workspace, `store-${measured.length}`);
  const server = await startServer('counterfoil', storage, '', undefined, command);
  measured.push({ what, server, us: [] });
  await microseconds(server, WARM_UP_S);
}

try {
  await add('the whole');
  const another = process.argv[2];
  if (another) await add(another, another);
  for (const [what, ...changes] of LEFT_OUT) {
    const copy = copyProgram();
    copies.push(copy);
    for (const change of changes) copy.change(...change);
    await add(what, copy.command);
  }
  for (let round = 0; round < ROUNDS; round++)
    for (const { server, us } of measured) us.push(await microseconds(server, ROUND_S));
  const whole = median(measured[0]!.us);
  for (const { what, us } of measured) {
    const spread = `${Math.min(...us).toFixed(1)} to ${Math.max(...us).toFixed(1)}`;
    console.log(
      `${what.padEnd(40)} ${median(us).toFixed(1)} µs (${spread}), ${(whole - median(us)).toFixed(1)} less`,
    );
  }
} finally {
  for (const { server } of measured) await server.stop();
  for (const copy of copies) copy.remove();
  rmSync(workspace, { recursive: true, force: true });
}
