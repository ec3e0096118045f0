// What a start makes of the files that a failure left: the store held, opened, migrated, its key found, its history verified.
import { join } from 'node:path';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { CheckpointSigner } from '../../src/journal/checkpoint-signer.ts';
import { findSeal, newestSeal } from '../../src/journal/queries.ts';
import { verifyHistory } from '../../src/journal/verify.ts';
import { systemClock } from '../../src/lib/time.ts';
import { PAYMENTS, type Payment } from '../../src/payments/payment.ts';
import { presentPayment } from '../../src/payments/present.ts';
import { migrate } from '../../src/store/migrate.ts';
import { holdStore, openDatabase } from '../../src/store/open.ts';
import { ROW_CHECKS } from '../support/read-only-store.ts';

export interface Recovered {
  /** Every payment by its id, as JSON text of the API. */
  payments: Map<string, string>;
  /** The answers that were kept for idempotency keys. */
  answers: Set<string>;
}

/**
 * Starts on the SQLite store in `storage` as a server does, as far as it does so before it listens, and ends as one does.
 * `checkoutBaseUrl`: of the server whose answers are compared. Throws whatever would keep a server from starting or from
 * signing, and whatever is wrong with the store.
 */
export async function recover(storage: string, checkoutBaseUrl: string): Promise<Recovered> {
  const release = holdStore({ storage, database_url: null });
  const database = await openDatabase({ storage, database_url: null }, () => {});
  try {
    await migrate(database);
    const signer = new CheckpointSigner(storage);
    const [integrity] = await database.query<{ integrity_check: string }>('pragma integrity_check');
    if (integrity?.integrity_check !== 'ok') throw new Error(`the file: ${integrity?.integrity_check}`);
    await verifyHistory(database, readCheckpoints(storage), ROW_CHECKS);
    await signer.sign(
      { newest: () => newestSeal(database), numbered: (number) => findSeal(database, number) },
      systemClock.now(),
    );
    const rows = await database.query<Payment>(`select ${PAYMENTS.columnList} from payments`);
    const kept = await database.query<{ body: string }>('select body from idempotency_keys');
    const present = (row: Payment) => presentPayment(row, checkoutBaseUrl, systemClock.now());
    return {
      payments: new Map(rows.map((row) => [row.id, present(row)])),
      answers: new Set(kept.map(({ body }) => body)),
    };
  } finally {
    await database.close();
    release();
  }
}

/** Where a server keeps its SQLite database. */
export const databaseIn = (storage: string) => join(storage, 'counterfoil.sqlite');
