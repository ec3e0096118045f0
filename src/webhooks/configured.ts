// The endpoints of the configuration file: the store takes them over at a start and on SIGHUP, and the secret is the store's.

import type { Journal } from '../journal/journal.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { derivedId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import type { Database } from '../store/database.ts';
import { changeEndpoint, createEndpoint, disableEndpoint, enableEndpoint } from './change.ts';
import { ENDPOINT_ID_PREFIX, type Endpoint, isConfigured } from './endpoint.ts';
import { listEndpoints } from './queries.ts';

/** An endpoint as the file has it. `name` is its own among those of the merchant. */
export interface ConfiguredEndpoint extends Pick<Endpoint, 'merchant_id' | 'mode' | 'url' | 'types'> {
  name: string;
}

const ACT = { actor: 'operator', request_id: null };
const LEFT_NOTE = 'It is no longer in the configuration file.';

const idOf = ({ merchant_id, mode, name }: ConfiguredEndpoint) =>
  derivedId(ENDPOINT_ID_PREFIX, `${merchant_id} ${mode} ${name}`);

const hadLeft = ({ disabled_reason, disabled_note }: Endpoint) =>
  disabled_reason === 'operator' && disabled_note === LEFT_NOTE;

interface Store {
  database: Database;
  journal: Journal;
  ring: KeyRing;
}

/**
 * Makes the endpoints of the file what the file says, and disables those that left it. One whose merchant has 16 already is logged and left
 * out. Throws as the journal does.
 */
export async function takeOver(
  { database, journal, ring }: Store,
  wanted: readonly ConfiguredEndpoint[],
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  const stored = (await listEndpoints(database)).filter(({ id }) => isConfigured(id));
  const left = new Map(stored.map((one) => [one.id, one]));
  for (const one of wanted) {
    const id = idOf(one);
    const before = left.get(id);
    left.delete(id);
    if (before && !hadLeft(before) && before.url === one.url && before.types === one.types) continue;
    const work = (transaction: Transaction) => takeOverOne(transaction, ring, one, before);
    await journal.commitAside(work, id).catch((error) => {
      if (!(error instanceof OperationalError && error.code === 'conflict')) throw error;
      const { merchant_id: merchant, name } = one;
      log.warn({ merchant, name }, `a webhook endpoint of the file is left out: ${error.message}`);
    });
  }
  // A merchant could enable one that was disabled for its failures.
  for (const one of left.values())
    if (one.disabled_reason !== 'administrator' && one.disabled_reason !== 'operator')
      await journal.commitAside(
        (transaction) => disableEndpoint(transaction, one.id, 'operator', ACT, LEFT_NOTE),
        one.id,
      );
}

async function takeOverOne(
  transaction: Transaction,
  ring: KeyRing,
  one: ConfiguredEndpoint,
  before: Endpoint | undefined,
): Promise<void> {
  const { merchant_id, mode, url, types, name } = one;
  const id = idOf(one);
  if (!before)
    await createEndpoint(
      transaction,
      ring,
      { merchant_id, mode },
      { url, types, description: name },
      ACT,
      id,
    );
  else if (before.url !== url || before.types !== types)
    await changeEndpoint(transaction, id, { url, types }, ACT);
  if (before && hadLeft(before)) await enableEndpoint(transaction, id, ACT);
}
