// An intruder with write access to the database: one random edit at a time, of any value, row or table, or of all of history.

import {
  type AuditEntry,
  NO_SEAL,
  rowDigest,
  type Seal,
  sealEntries,
} from '../../src/journal/audit-entry.ts';
import { PAYMENTS } from '../../src/payments/payment.ts';
import type { Row, Value } from '../../src/store/database.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

/** What the intruder works with. `?` stands for a value. A statement the engine refuses throws, and another is drawn. */
export interface Access {
  engine: 'sqlite' | 'postgres';
  rows<R = Row>(sql: string, ...values: Value[]): Promise<R[]>;
}

/** Every table with the columns that tell its rows apart. */
const KEYS: Record<string, string[]> = {
  payments: ['id'],
  audit_entries: ['number'],
  seals: ['number'],
  journal_head: ['id'],
  idempotency_keys: ['scope'],
  schema_migrations: ['version'],
  administrators: ['id'],
  passkeys: ['id'],
  sessions: ['id'],
  administrator_tokens: ['id'],
  merchants: ['id'],
  api_keys: ['id'],
  invites: ['id'],
};
const TABLES = Object.keys(KEYS);
/** The tables that hold more rows are drawn more often. */
const DRAWN = [
  ...TABLES,
  'payments',
  'payments',
  'audit_entries',
  'audit_entries',
  'seals',
  'idempotency_keys',
  'administrators',
  'sessions',
];
const HUGE = 2 ** 60;
/** What SQLite takes for a number, and no honest row holds. */
const ENDLESS = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** What was done, in words, and where it must be found where that is certain: by the row's subject, or by the seal. */
export interface Edited {
  told: string;
  subject?: string;
  seal?: Seal;
  /** How many acknowledgements it adds: then it may be taken for right, but must be told. */
  acknowledges?: number;
}

/** Nothing back where there was nothing to do. */
export type Edit = (access: Access, random: SeededRandom) => Promise<Edited | undefined>;

/** Where an edit of a row must be found. Whether a head or a migration has a place is the verifier's affair. */
async function placeOf(access: Access, table: string, row: Row): Promise<Partial<Edited>> {
  if (table === 'journal_head' || table === 'schema_migrations') return {};
  if (table === 'seals') return { seal: row as unknown as Seal };
  if (table === 'audit_entries') {
    const [seal] = await access.rows<Seal>(
      'select * from seals where last_entry >= ? order by number limit 1',
      row.number!,
    );
    return { seal: seal! };
  }
  return { subject: (table === 'idempotency_keys' ? 'answer_' : '') + row[KEYS[table]![0]!] };
}

export async function anyRow(access: Access, random: SeededRandom, table: string): Promise<Row | undefined> {
  const [{ count } = { count: 0 }] = await access.rows<{ count: number }>(
    `select count(*) as count from ${table}`,
  );
  if (count === 0) return undefined;
  const [row] = await access.rows(
    `select * from ${table} order by ${KEYS[table]!.join(', ')} limit 1 offset ? + 0`,
    random.between(0, count - 1),
  );
  return row;
}

function condition(table: string): string {
  return KEYS[table]!.map((column) => `${column} = ?`).join(' and ');
}

function keyOf(table: string, row: Row): Value[] {
  return KEYS[table]!.map((column) => row[column]!);
}

/** Some other value of the same kind. */
function altered(value: Value, random: SeededRandom, engine: Access['engine']): Value {
  if (value === null) return random.pick<Value>(['', 'x', '{}', 'pending', ...ENDLESS]);
  if (typeof value === 'number')
    return random.pick([
      value + 1,
      value - 1,
      -value,
      0,
      value * 10,
      value + 86_400_000,
      HUGE,
      -HUGE,
      ...ENDLESS,
    ]);
  const at = random.between(0, Math.max(0, value.length - 1));
  const flipped = value[at] === 'a' ? 'b' : 'a';
  return random.pick<Value>([
    value.slice(0, at) + flipped + value.slice(at + 1),
    value.slice(0, at) + value.slice(at + 1),
    `${value} `,
    value.toUpperCase(),
    value.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)),
    '',
    null,
    ...(engine === 'sqlite' ? [`${value}\0`] : []),
  ]);
}

const shown = (value: Value) => (typeof value === 'number' ? String(value) : JSON.stringify(value));

async function changeValue(access: Access, random: SeededRandom): Promise<Edited | undefined> {
  const table = random.pick(DRAWN);
  const row = await anyRow(access, random, table);
  if (!row) return undefined;
  const column = random.pick(Object.keys(row));
  const value = altered(row[column]!, random, access.engine);
  const isKey = KEYS[table]!.includes(column);
  const place = isKey ? {} : await placeOf(access, table, row);
  await access.rows(
    `update ${table} set ${column} = ? where ${condition(table)}`,
    value,
    ...keyOf(table, row),
  );
  const [now] = await access.rows(
    `select ${column} from ${table} where ${condition(table)}`,
    ...(isKey ? [value] : keyOf(table, row)),
  );
  if (now && now[column] === row[column]) return undefined; // the engine made the same value of it
  const told = `${table}.${column} of ${keyOf(table, row)}: ${shown(row[column]!)} → ${shown(value)}`;
  return { told, ...place };
}

async function deleteRow(access: Access, random: SeededRandom): Promise<Edited | undefined> {
  const table = random.pick(DRAWN);
  const row = await anyRow(access, random, table);
  if (!row) return undefined;
  const place = await placeOf(access, table, row);
  await access.rows(`delete from ${table} where ${condition(table)}`, ...keyOf(table, row));
  return { told: `deleted ${keyOf(table, row)} from ${table}`, ...place };
}

async function insertForged(access: Access, random: SeededRandom): Promise<Edited | undefined> {
  const table = random.pick(DRAWN);
  const row = await anyRow(access, random, table);
  if (!row) return undefined;
  const [key] = KEYS[table]!;
  const old = row[key!]!;
  const forged = {
    ...row,
    [key!]:
      typeof old === 'number'
        ? random.pick([0, -1, old + 1, old + 1000, HUGE, -HUGE])
        : random.pick(['', 'a', `${old}x`, `${old.slice(0, -1)}0`, 'zzzz', '~']),
  };
  const columns = Object.keys(forged);
  await access.rows(
    `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    ...(Object.values(forged) as Value[]),
  );
  return { told: `inserted ${JSON.stringify(forged[key!])} into ${table}` };
}

async function swapValues(access: Access, random: SeededRandom): Promise<Edited | undefined> {
  const table = random.pick(DRAWN);
  const one = await anyRow(access, random, table);
  const other = await anyRow(access, random, table);
  if (!one || !other) return undefined;
  const column = random.pick(Object.keys(one).filter((name) => !KEYS[table]!.includes(name)));
  if (one[column] === other[column]) return undefined;
  const update = `update ${table} set ${column} = ? where ${condition(table)}`;
  await access.rows(update, other[column]!, ...keyOf(table, one));
  await access.rows(update, one[column]!, ...keyOf(table, other));
  return { told: `swapped ${table}.${column} of ${keyOf(table, one)} and ${keyOf(table, other)}` };
}

/** Cuts the end off history, and makes everything left speak of nothing later, as far as one can. */
async function truncate(access: Access, random: SeededRandom): Promise<Edited | undefined> {
  const seals = await access.rows<Seal>('select * from seals order by number');
  const kept = random.between(0, seals.length - 1);
  const last = seals[kept - 1]?.last_entry ?? 0;
  await access.rows('delete from audit_entries where number > ?', last);
  await access.rows('delete from seals where number > ?', kept);
  await access.rows('update journal_head set entries = ?, seals = ?', last, kept);
  if (random.chance(0.7)) {
    await access.rows('delete from payments where id not in (select subject from audit_entries)');
    await access.rows(
      "delete from idempotency_keys where 'answer_' || scope not in (select subject from audit_entries)",
    );
  }
  return { told: `cut history to ${kept} of ${seals.length} seals` };
}

/** Changes an amount, rewrites the entry that would tell, and every seal from there on: all of it fits together again. */
async function rewriteHistory(access: Access, random: SeededRandom): Promise<Edited | undefined> {
  const payment = await anyRow(access, random, 'payments');
  const [entry] = await access.rows<AuditEntry>(
    'select * from audit_entries where subject = ? order by number desc limit 1',
    payment!.id!,
  );
  const amount_minor = Number(payment!.amount_minor) + random.between(1, 1000);
  const facts = {
    ...JSON.parse(entry!.facts),
    row: rowDigest(PAYMENTS.columns, { ...payment, amount_minor }),
  };
  await access.rows('update payments set amount_minor = ? where id = ?', amount_minor, payment!.id!);
  await access.rows(
    'update audit_entries set facts = ? where number = ?',
    JSON.stringify(facts),
    entry!.number,
  );
  const entries = await access.rows<AuditEntry>('select * from audit_entries order by number');
  let previous: string = NO_SEAL;
  for (const seal of await access.rows<Seal>('select * from seals order by number')) {
    const sealed = entries.slice(seal.first_entry - 1, seal.last_entry);
    const { hash } = sealEntries(seal.number, previous, seal.at, sealed);
    if (hash !== seal.hash)
      await access.rows('update seals set hash = ? where number = ?', hash, seal.number);
    previous = hash;
  }
  return { told: `rewrote history from entry ${entry!.number} on` };
}

/** Every kind, as often as it is to be drawn. */
export const DRAWN_EDITS: readonly { kind: string; edit: Edit }[] = [
  ...Array<{ kind: string; edit: Edit }>(6).fill({ kind: 'change a value', edit: changeValue }),
  ...Array<{ kind: string; edit: Edit }>(2).fill({ kind: 'delete a row', edit: deleteRow }),
  ...Array<{ kind: string; edit: Edit }>(2).fill({ kind: 'insert a forged row', edit: insertForged }),
  ...Array<{ kind: string; edit: Edit }>(2).fill({ kind: 'swap two values', edit: swapValues }),
  { kind: 'cut the end off', edit: truncate },
  { kind: 'rewrite history', edit: rewriteHistory },
];
