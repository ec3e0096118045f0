// Finds the merchant that a command line names, in the configuration and in the store, and the one that was probably meant.

import { editDistance } from '../../lib/text.ts';
import { systemClock } from '../../lib/time.ts';
import { Directory } from '../../merchants/directory.ts';
import { directoryListeners } from '../../merchants/follow.ts';
import { MERCHANT_ID_PREFIX, type Merchant } from '../../merchants/merchant.ts';
import type { Reader } from '../../store/database.ts';
import type { Configuration } from '../config.ts';
import { Failure } from './terminal.ts';

/** Maximum number of merchants in an error message. */
const LISTED = 8;

/** All merchants and keys: of the configuration, and of the store if there is one. Throws `DatabaseError`. */
export async function loadDirectory(
  { merchants, environment }: Configuration,
  database: Reader | undefined,
): Promise<Directory> {
  const directory = new Directory(merchants, { testOnly: environment === 'development', keepsOver: true });
  const listeners = database ? directoryListeners(database, directory, systemClock) : [];
  for (const { load } of listeners) await load();
  return directory;
}

/** The merchant with that id, else with that business name, or undefined. Throws `Failure` if two have the name. */
export function merchantNamed(wanted: string, directory: Directory): Merchant | undefined {
  const { merchants } = directory;
  const named = merchants.find(({ id }) => id === wanted);
  const found = named ? [named] : merchants.filter(({ name }) => name === wanted);
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new Failure(
      `${found.length} merchants are called ${JSON.stringify(wanted)}: name one by its id (${ids})`,
    );
  }
  if (found[0]) return { id: found[0].id, name: found[0].name };
  // One that left the configuration is known by the state that it is still in, or by its keys in the store.
  const isLeft = directory.isSuspended(wanted) || directory.keysOf(wanted).length > 0;
  return isLeft ? { id: wanted, name: wanted } : undefined;
}

/** The same for a merchant that must exist. Throws `Failure`, which suggests similar names. */
export function existingMerchant(wanted: string, directory: Directory): Merchant {
  const found = merchantNamed(wanted, directory);
  if (found) return found;
  throw noSuchMerchant(wanted, directory);
}

export function noSuchMerchant(wanted: string, directory: Directory): Failure {
  const { merchants } = directory;
  const named = wanted.startsWith(MERCHANT_ID_PREFIX) ? wanted : JSON.stringify(wanted);
  const near = nearestMerchant(wanted, merchants);
  if (near) return new Failure(`there is no merchant ${named}; did you mean ${near.name} (${near.id})?`);
  if (merchants.length > LISTED)
    return new Failure(`there is no merchant ${named}; counterfoil merchants list shows all`);
  const all = merchants.map(({ id, name }) => `${name} (${id})`).join(', ');
  return new Failure(
    `there is no merchant ${named}; there ${all ? `are: ${all}` : 'is none yet: give a business name'}`,
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

/** How many letters differ; undefined where it is too many for a slip. */
function slipsBetween(one: string, other: string): number | undefined {
  const [a, b] = [plain(one), plain(other)];
  const most = Math.max(1, Math.floor(b.length / 5));
  if (Math.abs(a.length - b.length) > most || digits(a) !== digits(b)) return undefined;
  const distance = editDistance(a, b);
  return distance <= most ? distance : undefined;
}

const plain = (text: string) => text.toLowerCase().replaceAll(/[\s\p{P}\p{S}]+/gu, '');
const digits = (text: string) => text.replaceAll(/\P{Nd}/gu, '');
