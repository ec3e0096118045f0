// What a person gets at the first start in development: a payment in each status, their webhooks, and one to pay.
import { randomId } from '../lib/ids.ts';
import { MINUTE_MS, systemClock } from '../lib/time.ts';
import type { Caller } from '../merchants/merchant.ts';
import { createPayment } from '../payments/create.ts';
import { checkoutUrl } from '../payments/present.ts';
import { listPayments, paymentsAfter } from '../payments/queries.ts';
import { parsePaymentRequest } from '../payments/request.ts';
import { cancelByCustomer } from '../payments/submit.ts';
import { type Trial, tryOut } from '../review/try-out.ts';
import { changeEndpoint, createEndpoint } from '../webhooks/change.ts';
import { listEndpoints } from '../webhooks/queries.ts';
import { type Configuration, termsOf } from './config.ts';
import type { Service } from './main.ts';

/** The demo's payments: what each is for, its amount in euros, and the moves that lead to its status. */
const PAYMENTS: readonly [description: string, amount: number, moves: readonly (Trial | 'cancel')[]][] = [
  ['Demo: a desk lamp, approved', 89, ['submit', 'approve']],
  ['Demo: a bicycle, rejected', 640.5, ['submit', 'reject']],
  ['Demo: two tickets, cancelled by the customer', 58, ['cancel']],
  ['Demo: a garden chair, expired, and its customer asks for a new link', 35, ['expire', 'request_link']],
  ['Demo: a bookshelf, paid and waiting for review', 129.9, ['record']],
  ['Demo: three cups, waiting for review', 24.3, ['submit']],
];

/** By which a later start knows the demo's endpoint again. */
const INBOX_DESCRIPTION = 'Demo: the inbox of this server';

/** The reference of the payments to pay, and the least time that one must have left. */
const SAMPLE_REFERENCE = 'SAMPLE-1';
const SAMPLE_TIME_LEFT_MS = 10 * MINUTE_MS;

const ACT = { actor: 'operator', request_id: null };

interface Demo {
  configuration: Configuration;
  service: Service;
  caller: Caller;
}

interface Wish {
  merchant_reference: string;
  amount: number;
  description: string;
}

/** Creates a payment in euros and returns its id. Throws as `commit` does. */
async function create({ configuration, service, caller }: Demo, wish: Wish): Promise<string> {
  const request = parsePaymentRequest({ currency: 'EUR', ...wish }, { strict: true, httpsOnly: false });
  const { id } = await service.journal.commit((transaction) =>
    createPayment(transaction, caller, ACT, request, termsOf(configuration)),
  );
  return id;
}

/**
 * Fills a store without payments: a payment in each status, and a webhook endpoint whose events lie at `inboxUrl`. All of it goes through
 * the journal, as what people do. Returns false if the store has payments: then the demo's endpoint alone is led to `inboxUrl`. Throws as
 * `commit` does.
 */
export async function fillEmptyStore(demo: Demo, inboxUrl: string): Promise<boolean> {
  const { caller } = demo;
  const { database, journal, ring } = demo.service;
  const tenant = { merchant_id: caller.merchant.id, mode: caller.key.mode };
  if ((await paymentsAfter(database, undefined, 1)).length > 0) {
    const endpoints = await listEndpoints(database, tenant);
    const moved = endpoints.find(
      ({ description, url }) => description === INBOX_DESCRIPTION && url !== inboxUrl,
    );
    if (moved)
      await journal.commit((transaction) => changeEndpoint(transaction, moved.id, { url: inboxUrl }, ACT));
    return false;
  }
  const requestId = randomId('req_', 16);
  for (const [i, [description, amount, moves]] of PAYMENTS.entries()) {
    const id = await create(demo, { merchant_reference: `DEMO-${i + 1}`, amount, description });
    for (const move of moves)
      await journal.commit(
        (transaction) =>
          move === 'cancel'
            ? cancelByCustomer(transaction, id, requestId)
            : tryOut(transaction, move, { id, merchant_id: tenant.merchant_id, requestId }),
        id,
      );
  }
  // Last, so that the inbox begins with what the newcomer does.
  const wish = { url: inboxUrl, types: null, description: INBOX_DESCRIPTION };
  await journal.commit((transaction) => createEndpoint(transaction, ring, tenant, wish, ACT));
  return true;
}

/** Creates a payment to pay, and returns its page. Throws as `commit` does. */
export async function newSample(demo: Demo): Promise<string> {
  const id = await create(demo, {
    merchant_reference: SAMPLE_REFERENCE,
    amount: 49.9,
    description: 'A sample payment to look at',
  });
  return checkoutUrl(demo.service.checkoutBaseUrl, id);
}

/** The page of the newest payment to pay that has time left, otherwise of a new one. Throws as `commit` does. */
export async function sample(demo: Demo): Promise<string> {
  const { merchant, key } = demo.caller;
  const { database, checkoutBaseUrl } = demo.service;
  const [latest] = await listPayments(database, {
    ...{ merchant_id: merchant.id, mode: key.mode, merchant_reference: SAMPLE_REFERENCE, status: 'pending' },
    ...{ before: undefined, limit: 1, now: systemClock.now() + SAMPLE_TIME_LEFT_MS },
  });
  return latest ? checkoutUrl(checkoutBaseUrl, latest.id) : newSample(demo);
}
