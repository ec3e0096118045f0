// An API key as the configuration and the store together tell of it.
import type { ApiKey } from './merchant.ts';
import type { StoredKey } from './stored-key.ts';

/** A key of the configuration, and whose it is. */
export interface ConfiguredKey extends ApiKey {
  merchant_id: string;
}

/** A key and what is known about it. Times in milliseconds since 1970. */
export interface KnownKey
  extends Omit<ConfiguredKey, 'name' | 'replaced_by'>,
    Pick<StoredKey, 'name' | 'last_four' | 'replaced_by' | 'revoked_at' | 'made_by'> {
  /** Undefined for a key of the configuration, which does not hold this time. */
  created_at: number | null;
  /** Whether the configuration names it. */
  isConfigured: boolean;
}

/**
 * Merges what the configuration and the store say about one key. The configuration decides its merchant and mode; the earlier end holds.
 * With `testOnly` it makes test payments, whatever its mode. Undefined if neither names it.
 */
export function knownKey(
  configured: ConfiguredKey | undefined,
  stored: StoredKey | undefined,
  testOnly: boolean,
): KnownKey | undefined {
  const named = configured ?? stored;
  if (!named) return undefined;
  const { id, digest, merchant_id, mode } = named;
  return {
    id,
    digest,
    merchant_id,
    mode: testOnly ? 'test' : mode,
    expires_at: earlier(configured?.expires_at ?? null, stored?.expires_at ?? null),
    name: stored?.name ?? configured?.name ?? null,
    last_four: stored?.last_four ?? null,
    replaced_by: stored?.replaced_by ?? null,
    revoked_at: stored?.revoked_at ?? null,
    made_by: stored?.made_by ?? null,
    // Only of a key that was made here are the last characters known, and its row is as old as it is.
    created_at: stored && stored.last_four !== null ? stored.created_at : null,
    isConfigured: configured !== undefined,
  };
}

/** The nearer of two ends, where nothing is none. */
export function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
