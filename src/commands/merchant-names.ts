// Finds the merchant that a command line names, in the configuration and in the store, and the one that was probably meant.
import type { Configuration } from '../config.ts';
import type { Queryable } from '../database/database.ts';
import { editDistance } from '../lib/edit-distance.ts';
import { Directory } from '../merchants/directory.ts';
import { directoryListeners } from '../merchants/follow.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { MERCHANT_ID_PREFIX } from '../merchants/stored-merchant.ts';
import { Failure } from './terminal.ts';

/** How many merchants a failure lists. */
const LISTED = 8;

/** All merchants and keys: the configuration's, and the store's where there is one. Raises `DatabaseError`. */
export async function loadDirectory(
  { merchants, environment }: Configuration,
  database: Pick<Queryable, 'query'> | undefined,
): Promise<Directory> {
  const directory = new Directory(merchants, { testOnly: environment === 'development' });
  if (database) for (const { load } of directoryListeners(database, directory)) await load();
  return directory;
}

/** The merchant of that id or business name; nothing where there is none. Raises `Failure` where two have the name. */
export function merchantNamed(wanted: string, directory: Directory): Merchant | undefined {
  const found = directory.merchants.filter(({ id, name }) => id === wanted || name === wanted);
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new Failure(
      `${found.length} merchants are called ${JSON.stringify(wanted)}: name one by its id (${ids})`,
    );
  }
  if (found[0]) return { id: found[0].id, name: found[0].name };
  // One that left the configuration is known by the state that it is still in.
  return directory.isSuspended(wanted) ? { id: wanted, name: wanted } : undefined;
}

/** The same, for a merchant that must be there. Raises `Failure`, which says whom it might have meant. */
export function existingMerchant(wanted: string, directory: Directory): Merchant {
  const found = merchantNamed(wanted, directory);
  if (found) return found;
  throw noSuchMerchant(wanted, directory);
}

export function noSuchMerchant(wanted: string, directory: Directory): Failure {
  const { merchants } = directory;
  const named = wanted.startsWith(MERCHANT_ID_PREFIX) ? wanted : JSON.stringify(wanted);
  const ids = merchants.map(({ id }) => id).join(', ');
  if (merchants.length <= LISTED)
    return new Failure(
      `there is no merchant ${named}; there ${ids ? `are: ${ids}` : 'is none yet: give a business name'}`,
    );
  const near = nearestMerchant(wanted, merchants);
  return new Failure(
    `there is no merchant ${named}; ${near ? `did you mean ${near.name} (${near.id})?` : 'counterfoil merchants list shows all'}`,
  );
}

/**
 * The merchant whose name or id is so near to `wanted` that it was probably meant: but for case, spaces and signs, no more than a fifth
 * of its letters differ. Names that count (`Shop 1`, `Shop 2`) are no slips of one another.
 */
export function nearestMerchant(wanted: string, merchants: readonly Merchant[]): Merchant | undefined {
  let nearest: { merchant: Merchant; distance: number } | undefined;
  for (const merchant of merchants) {
    for (const known of [merchant.name, merchant.id]) {
      const distance = slipsBetween(wanted, known);
      if (distance !== undefined && distance < (nearest?.distance ?? Infinity))
        nearest = { merchant, distance };
    }
  }
  return nearest?.merchant;
}

/** How many letters differ; nothing where it is too many for a slip. */
function slipsBetween(one: string, other: string): number | undefined {
  const [a, b] = [plain(one), plain(other)];
  const most = Math.max(1, Math.floor(b.length / 5));
  if (Math.abs(a.length - b.length) > most || digits(a) !== digits(b)) return undefined;
  const distance = editDistance(a, b);
  return distance <= most ? distance : undefined;
}

const plain = (text: string) => text.toLowerCase().replaceAll(/[\s\p{P}\p{S}]+/gu, '');
const digits = (text: string) => text.replaceAll(/\P{Nd}/gu, '');
