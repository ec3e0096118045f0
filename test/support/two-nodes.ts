// Two nodes on one PostgreSQL that write at once, beside somebody who reads.

import type { Journal } from '../../src/journal/journal.ts';
import { createPayment } from '../../src/payments/create.ts';
import { DEFAULT_TERMS } from '../../src/payments/pay-by.ts';
import { parsePaymentRequest } from '../../src/payments/request.ts';
import { cancelByCustomer } from '../../src/payments/submit.ts';
import { openDatabase } from '../../src/store/open.ts';
import { type Harness, KEY, startHarness } from './harness.ts';
import { unhurried } from './journal.ts';

const WANTED = parsePaymentRequest({ amount: 1 }, { strict: false, httpsOnly: false });
const OF_EACH_WRITER = 75;

/**
 * Creates payments at one node and cancels them at the other, two writers each way. `read` is called again and again meanwhile, and once
 * more when all is written. Returns the ids of the payments.
 */
export async function besideTwoNodes(read: (service: Harness) => Promise<void>): Promise<string[]> {
  const service = await startHarness('postgres');
  const second = await openDatabase(service.store, () => {});
  try {
    const { journal, directory } = service.service;
    const caller = directory.find(KEY, service.clock.now())!;
    const act = { actor: caller.actor, request_id: null };
    const other = unhurried(second, service.clock);
    const ids: string[] = [];
    let writing = true;
    const write = async (one: Journal, another: Journal) => {
      for (let i = 0; i < OF_EACH_WRITER; i++) {
        const { id } = await one.commit((of) => createPayment(of, caller, act, WANTED, DEFAULT_TERMS));
        await another.commit((of) => cancelByCustomer(of, id, 'req_c'), id);
        ids.push(id);
      }
    };
    const writers = Promise.all([
      write(journal, other),
      write(other, journal),
      write(journal, other),
      write(other, journal),
    ]).finally(() => {
      writing = false;
    });
    for (let last = false; !last; ) {
      last = !writing;
      await read(service);
    }
    await writers;
    return ids;
  } finally {
    await second.close();
    await service.close();
  }
}
