// A thief of data: takes every text apart, and tries each against a running server in every place that takes a secret.
import { type KeyObject, sign } from 'node:crypto';
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCheckpoints, statement } from '../../src/journal/checkpoint.ts';
import { sha256 } from '../../src/lib/secrets.ts';
import type { Harness } from '../support/harness.ts';

/** Shorter texts are no secrets of ours: the shortest, a recovery code, has 16 characters. */
const SHORTEST = 16;

/** Nothing that a limit refuses shall pass for something that a guard refused. */
export const PATIENT = `
sign_in_forms_per_address: 1000000
rate_limits: { refused_keys_per_minute: 1000000 }
registration: { mode: invite, per_address: 10000, per_hour: 100000 }
`;
type Row = Record<string, unknown>;
type Query = <R>(sql: string) => Promise<R[]>;

/** Every row of every table of a store, by the table's name. */
export async function tablesOf(query: Query, engine: 'sqlite' | 'postgres'): Promise<Map<string, Row[]>> {
  const names = await query<{ name: string }>(
    engine === 'sqlite'
      ? `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`
      : `select tablename as name from pg_tables where schemaname = current_schema()`,
  );
  const tables = new Map<string, Row[]>();
  for (const { name } of names) tables.set(name, await query<Row>(`select * from ${name}`));
  return tables;
}

/** The texts in some values, whole and in parts, that may be a secret: each once. */
export function textsIn(values: Iterable<unknown>): string[] {
  const found = new Set<string>();
  const take = (value: unknown) => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(take);
    if (typeof value !== 'string') return;
    for (const text of [value, ...value.split(/[^\w-]+/), ...value.split(/[^\w.-]+/), ...value.split(/_/)])
      if (text.length >= SHORTEST && /^[\x21-\x7e]+$/.test(text)) found.add(text);
    try {
      const inside: unknown = JSON.parse(value);
      if (typeof inside === 'object') take(inside);
    } catch {
      // No JSON: there is nothing inside.
    }
  };
  for (const value of values) take(value);
  return [...found];
}

type Way = (harness: Harness, text: string) => Promise<boolean>;

const isTaken = async (harness: Harness, path: string, key: string) =>
  (await harness.request(path, { key })).status === 200;

/** Where a secret opens something: each answers whether `text` did. */
export const WAYS = {
  'as an API key': (harness, text) => isTaken(harness, '/v1/payments', text),
  "as an administrator's token": (harness, text) => isTaken(harness, '/admin/payments', text),
  'as a session cookie': (harness, text) => isSignedIn(harness, text),
  'as the secret of a session': (harness, text) =>
    isSignedIn(harness, `${text}.${Math.floor(harness.clock.now() / 1000)}.${sha256(text)}`),
  'as a set-up link': async (harness, text) => {
    const { status } = await fetch(`${harness.origin}/console/set-up?link=${encodeURIComponent(text)}`);
    return status === 200;
  },
  'as an invitation': async (harness, text) => {
    const body = { business_name: `Thief ${text.slice(0, 40)}`, email: 'thief@example.org', invite: text };
    return (await harness.request('/register', { method: 'POST', key: null, body })).status === 201;
  },
} as const satisfies Record<string, Way>;

/** Whether the link with a payment's id shows a page about it. Ids stand in the store; nothing else may lead there. */
export const isPaymentPage: Way = async (harness, text) =>
  (await fetch(`${harness.origin}/payment.php?payment_id=${encodeURIComponent(text)}`)).status !== 404;

/** Whether a session cookie opens the console. */
export async function isSignedIn(harness: Harness, cookie: string): Promise<boolean> {
  const answer = await fetch(`${harness.origin}/console/account`, {
    headers: { cookie: `counterfoil_session=${cookie}` },
    redirect: 'manual',
  });
  return (await answer.text()).includes('Your account');
}

/** What opened something: `<text> as …`. Empty where nothing did. */
export async function opened(
  harness: Harness,
  texts: readonly string[],
  ways: Readonly<Record<string, Way>> = WAYS,
): Promise<string[]> {
  const found: string[] = [];
  for (const text of texts)
    for (const [how, way] of Object.entries(ways)) if (await way(harness, text)) found.push(`${text} ${how}`);
  return found;
}

/** What is said of a checkpoint that the checkpoint key did not sign. */
export const FORGED = 'the signature is wrong';

/**
 * Adds a checkpoint, signed with a key of the thief's, to a copy of the storage without the checkpoint key. The service must be stopped and
 * have signed one. Returns what is said of it; undefined where it is taken.
 */
export function faultOfForged({ store }: Harness, key: KeyObject): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-thief-'));
  try {
    cpSync(store.storage, folder, { recursive: true });
    rmSync(join(folder, 'checkpoint-key.pem'));
    const { checkpoints, fault } = readCheckpoints(folder);
    if (fault) throw new Error(fault.problem);
    const { signature: _, ...last } = checkpoints.at(-1)!;
    const forged = { ...last, seal: last.seal + 1, last_entry: last.last_entry + 1 };
    const signature = sign(null, statement(forged), key).toString('base64url');
    appendFileSync(join(folder, 'checkpoints.jsonl'), `${JSON.stringify({ ...forged, signature })}\n`);
    return readCheckpoints(folder).fault?.problem;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
