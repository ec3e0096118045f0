// The hash that closes a commit: over the seal before it and every entry of the commit, so history cannot be edited alone.
import { sha256 } from '../lib/secrets.ts';
import { type AuditEntry, canonicalEntry } from './audit-entry.ts';

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
