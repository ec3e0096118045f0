// One numbered fact of the history, and the seal that closes a commit; neither holds personal data.
import { randomId } from '../lib/ids.ts';
import { sha256 } from '../lib/secrets.ts';
import { jsonOr } from '../lib/text.ts';

/** What a work records. `facts` are values worth reading later; `row` among them is the digest of the row as it
 * stands after. */
export interface Entry {
  actor: string;
  action: string;
  subject: string;
  request_id: string | null;
  facts: Record<string, string | number | null>;
}

/** Who does something, and the request they did it by. */
export type Act = Pick<Entry, 'actor' | 'request_id'>;

/** An entry as stored: `number` counts from 1 without a gap, `at` is milliseconds since 1970, `facts` is JSON text. */
export interface AuditEntry {
  number: number;
  at: number;
  actor: string;
  action: string;
  subject: string;
  request_id: string | null;
  facts: string;
}

/** The facts of an entry as stored. A text that is no JSON object is not the work of this service: it is the value of `unreadable`. */
export function factsTold({ facts }: Pick<AuditEntry, 'facts'>): Entry['facts'] {
  const read = jsonOr(facts);
  return read && typeof read === 'object' ? (read as Entry['facts']) : { unreadable: facts };
}

/** The bytes of an entry that a seal covers: a JSON array in this order, on a line of its own. */
export function canonicalEntry(entry: AuditEntry): string {
  const { number, at, actor, action, subject, request_id, facts } = entry;
  return `${JSON.stringify([number, at, actor, action, subject, request_id, facts])}\n`;
}

/**
 * The digest that ties a row to its entries: SHA-256 over the row's values as a JSON array in the order of `columns`.
 * Empty values at the end are left out, so that a column added later changes no digest given before. The row carries a
 * random `salt` column, so the digest of a row that was erased says nothing about what it held.
 */
export function rowDigest(columns: readonly string[], row: object): string {
  const values = columns.map((column) => (row as Record<string, unknown>)[column]);
  while (values.at(-1) === null) values.pop();
  return sha256(JSON.stringify(values.map(written)));
}

/** JSON would write an infinite number, which no honest row holds and SQLite takes, as null. */
function written(value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

const SALT_CHARACTERS = 16; // 80 bits, too many to try out

/** A row's salt: what keeps the digests of a row that was erased from telling what it held. */
export function newSalt(): string {
  return randomId('', SALT_CHARACTERS);
}

/** Seal `number` covers the entries `first_entry` to `last_entry`; `hash` is SHA-256, base64url. */
export interface Seal {
  number: number;
  first_entry: number;
  last_entry: number;
  at: number;
  hash: string;
}

/** What the first seal has before it. */
export const NO_SEAL = '';

/** Closes entries (all of one commit, in order) behind the seal before. */
export function sealEntries(
  number: number,
  previousHash: string,
  at: number,
  entries: readonly AuditEntry[],
): Seal {
  const first_entry = entries[0]!.number;
  const last_entry = entries.at(-1)!.number;
  let text = `${JSON.stringify(['counterfoil seal', number, previousHash, first_entry, last_entry, at])}\n`;
  for (const entry of entries) text += canonicalEntry(entry);
  return { number, first_entry, last_entry, at, hash: sha256(text) };
}
