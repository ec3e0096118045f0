// Decides payments on one store: within the tests' process, and as a process of its own that they talk to.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Journal } from '../../src/journal/journal.ts';
import { approve, reject } from '../../src/review/decide.ts';
import { unhurried } from '../support/journal.ts';
import type { ANA } from '../support/reviewers.ts';
import { openPatiently, type Store } from '../support/stores.ts';

export interface Attempt {
  id: string;
  by: typeof ANA;
  did: 'approve' | 'reject';
}

/** What an attempt came to: an outcome, or the code and the words it was refused with. */
export interface Came {
  came: string;
  message?: string;
}

export type Decider = (attempt: Attempt) => Promise<Came>;

/** Amounts above it need two. */
export const FOUR_EYES = { USD: 100_00 };
const BARE = { note: null, version: null };

export function deciderOn(journal: Journal): Decider {
  return ({ id, by, did }) =>
    journal
      .commit(
        (transaction) =>
          did === 'approve'
            ? approve(transaction, by, id, { ...BARE, bank_reference: null }, FOUR_EYES)
            : reject(transaction, by, id, { ...BARE, reason: 'other', message: null }),
        id,
      )
      .then(
        ({ outcome }) => ({ came: outcome }),
        ({ code, message }) => ({ came: String(code), message: String(message) }),
      );
}

/** Starts a process that decides on `store`. */
export async function startDecider(store: Store): Promise<{ decide: Decider; stop(): Promise<void> }> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(store)], { execArgv: [] });
  const waiting = new Map<number, (came: Came) => void>();
  let asked = 0;
  await once(child, 'message'); // it is ready
  child.on('message', ({ number, ...came }: Came & { number: number }) => waiting.get(number)?.(came));
  return {
    decide: (attempt) =>
      new Promise((resolve) => {
        waiting.set(++asked, resolve);
        child.send({ number: asked, attempt });
      }),
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { storage, database_url } = JSON.parse(process.argv[2]!) as Store;
  const database = await openPatiently({ storage, database_url });
  const journal = unhurried(database);
  const decide = deciderOn(journal);
  process.on('message', async ({ number, attempt }: { number: number; attempt: Attempt }) =>
    process.send!({ number, ...(await decide(attempt)) }),
  );
  process.on('disconnect', async () => {
    await journal.close();
    await database.close();
  });
  process.send!('ready');
}
