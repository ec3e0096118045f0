// When keys were last used, to the minute: noted in memory at each request, written down together once a minute, a first use at once.

import type { Journal } from '../journal/journal.ts';
import type { Logger } from '../lib/log.ts';
import { inSequence } from '../lib/rounds.ts';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../lib/time.ts';
import type { Reader } from '../store/database.ts';
import { keyUsesOf, noteKeyUses } from './queries.ts';

/** The name that such works are put in order by: they change the same rows on every node. */
const ROW = 'api_key_uses';
/** Maximum number of keys in one commit, so that the commit stays short. */
const WRITTEN_AT_ONCE = 200;
/** Maximum number of keys in one statement. Because engines limit the values of a statement. */
const READ_AT_ONCE = 500;

export class KeyUses {
  readonly #journal: Journal;
  /** The minute that each key was last seen in, in milliseconds since 1970. */
  readonly #seen = new Map<string, number>();
  /** What is not written yet. */
  #fresh = new Map<string, number>();
  /** Whether a key was used that was not before since this node started: elsewhere it may be shown as never used. */
  hasFirstUse = false;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  note(keyId: string, now: number): void {
    const minute = now - (now % MINUTE_MS);
    if ((this.#seen.get(keyId) ?? 0) >= minute) return;
    if (!this.#seen.has(keyId)) this.hasFirstUse = true;
    this.#seen.set(keyId, minute);
    this.#fresh.set(keyId, minute);
  }

  /** When keys were last used, by their ids, to the minute; those that never were are left out. Throws `DatabaseError`. */
  async lastUsed(database: Reader, keyIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const uses = new Map<string, number>();
    for (let i = 0; i < keyIds.length; i += READ_AT_ONCE) {
      const written = await keyUsesOf(database, keyIds.slice(i, i + READ_AT_ONCE));
      for (const { key_id, used_at } of written) uses.set(key_id, used_at);
    }
    for (const id of keyIds) {
      const seen = this.#seen.get(id);
      if (seen !== undefined && seen > (uses.get(id) ?? 0)) uses.set(id, seen);
    }
    return uses;
  }

  /** Writes what is not written yet. What the journal refuses is kept for the next time. Throws `OperationalError`. */
  async write(): Promise<void> {
    const fresh = this.#fresh;
    this.#fresh = new Map();
    this.hasFirstUse = false;
    try {
      const ids = [...fresh.keys()].sort(); // in one order on every node
      for (let i = 0; i < ids.length; i += WRITTEN_AT_ONCE) {
        const some = ids.slice(i, i + WRITTEN_AT_ONCE);
        const uses = some.map((id) => [id, fresh.get(id)!] as const);
        await this.#journal.commitAside((transaction) => noteKeyUses(transaction, uses), ROW);
        for (const id of some) fresh.delete(id);
      }
    } catch (error) {
      for (const [id, at] of fresh) if (!this.#fresh.has(id)) this.#fresh.set(id, at);
      throw error;
    }
  }
}

/** Writes down what was noted once a minute, within a second where a key was used for the first time, and at the stop. */
export function startKeyUses(uses: KeyUses, log: Logger): { stop(): Promise<void> } {
  const write = inSequence(() => uses.write(), log, 'when keys were used is written down later');
  let writtenAt = monotonicMs();
  const writeDue = () => {
    if (!uses.hasFirstUse && monotonicMs() - writtenAt < MINUTE_MS) return;
    writtenAt = monotonicMs();
    void write();
  };
  const timer = setInterval(writeDue, SECOND_MS);
  return {
    stop() {
      clearInterval(timer);
      return write();
    },
  };
}
