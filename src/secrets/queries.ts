// The SQL about the keys for secrets at rest that a store needs.
import type { Queryable } from '../database/database.ts';

/** A row of `secret_keys`. Times in milliseconds since 1970. */
export interface StoredSecretKey {
  /** The key's id, as `secrets.key` has it. */
  id: string;
  /** From when the store is sealed with it. */
  created_at: number;
  /** Rows from before this moment keep the MACs of the version before: `Aged`. 0 in a store that this version began. */
  beside_until: number;
  /** From when it counts no more. */
  removed_at: number | null;
}

/** All keys of a store, oldest first: the last that is not removed is the one to seal with. */
export function storedSecretKeys(database: Pick<Queryable, 'query'>): Promise<StoredSecretKey[]> {
  return database.query(
    'select id, created_at, beside_until, removed_at from secret_keys order by created_at, id',
  );
}
