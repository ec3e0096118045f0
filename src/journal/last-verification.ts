// What the newest verification of the history came to, kept beside the store so that every process and the next start know it.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'last-verification.json';

export interface LastVerification {
  /** Milliseconds since 1970. */
  at: number;
  intact: boolean;
  /** How many faults were acknowledged. */
  acknowledged: number;
}

/** Keeps what a verification came to. An account that may not write there keeps nothing. */
export function keepVerification(storage: string, { at, intact, acknowledged }: LastVerification): void {
  const file = join(storage, FILE);
  try {
    writeFileSync(`${file}.new`, JSON.stringify({ at, intact, acknowledged }), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // The verification itself is what counts.
  }
}

/** The newest; undefined where the history was never verified from this storage directory. */
export function lastVerification(storage: string): LastVerification | undefined {
  try {
    return JSON.parse(readFileSync(join(storage, FILE), 'utf8')) as LastVerification;
  } catch {
    return undefined;
  }
}
