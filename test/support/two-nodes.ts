// Two nodes on one PostgreSQL that write at once, beside somebody who reads.

import type { Journal } from '../../src/journal/journal.ts';
import { cancelByCustomer } from '../../src/payments/submit.ts';
import { createIn, type Harness, startHarness } from './harness.ts';
import { unhurried } from './journal.ts';
import { openPatiently } from './stores.ts';

const OF_EACH_WRITER = 75;

/**
 * Creates payments at one node and cancels them at the other, two writers each way. `read` is called again and again meanwhile, and once
 * more when all is written. Returns the ids of the payments.
 */
export async function besideTwoNodes(read: (service: Harness) => Promise<void>): Promise<string[]> {
  const service = await startHarness('postgres');
  const second = await openPatiently(service.store);
  try {
    const { journal } = service.service;
    const other = unhurried(second, service.clock);
    const ids: string[] = [];
    let writing = true;
    const write = async (one: Journal, another: Journal) => {
      for (let i = 0; i < OF_EACH_WRITER; i++) {
        const [id = ''] = await createIn(one, service);
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
