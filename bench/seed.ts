// Fills a store with payments through the journal, as the service would have made them.

import { Journal } from '../src/journal/journal.ts';
import { systemClock } from '../src/lib/time.ts';
import { type Caller, DEVELOPMENT_KEY, keyDigest, keyId } from '../src/merchants/merchant.ts';
import { createPayment } from '../src/payments/create.ts';
import { DEFAULT_TERMS } from '../src/payments/pay-by.ts';
import { parsePaymentRequest } from '../src/payments/request.ts';
import { migrate } from '../src/store/migrate.ts';
import { openDatabase } from '../src/store/open.ts';
import { BODY } from './request.ts';

const BATCH = 256;

/** Adds `count` payments with references of their own to the store in `storage`, or in PostgreSQL. Returns seconds taken. */
export async function seed(
  storage: string,
  count: number,
  databaseUrl: string | null = null,
): Promise<number> {
  const database = await openDatabase({ storage, database_url: databaseUrl }, (error) => {
    throw error;
  });
  await migrate(database);
  const journal = new Journal(database, systemClock);
  const digest = keyDigest(DEVELOPMENT_KEY);
  const caller: Caller = {
    merchant: { id: 'mer_development', name: 'Development Shop' },
    key: { id: keyId(digest), digest, mode: 'test', expires_at: null },
    limits: {},
    actor: 'merchant:mer_development',
  };
  const request = parsePaymentRequest(BODY, { strict: true, httpsOnly: false });
  const begun = performance.now();
  for (let done = 0; done < count; done += BATCH) {
    const works = Array.from({ length: Math.min(BATCH, count - done) }, (_, i) =>
      journal.commit((transaction) => {
        const one = { ...request, merchant_reference: `ORDER-${done + i}` };
        return createPayment(
          transaction,
          caller,
          { actor: caller.actor, request_id: 'req_0123456789abcdef' },
          one,
          DEFAULT_TERMS,
        );
      }),
    );
    await Promise.all(works);
  }
  const seconds = (performance.now() - begun) / 1000;
  await database.close();
  return seconds;
}
