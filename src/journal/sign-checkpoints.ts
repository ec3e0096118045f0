// Signs the newest seal of all nodes every minute and at the stop.

import type { Logger } from '../lib/log.ts';
import { type Clock, MINUTE_MS } from '../lib/time.ts';
import type { Database } from '../store/database.ts';
import type { Seal } from './audit-entry.ts';
import { CheckpointSigner } from './checkpoint-signer.ts';
import type { Journal } from './journal.ts';
import { findSeal } from './queries.ts';

const EVERY_MS = MINUTE_MS;

export interface CheckpointRounds {
  /** When the newest checkpoint was signed, milliseconds since 1970; nothing before the first. */
  newestAt(): number | undefined;
  /** When the last round ended well, whether or not there was anything to sign, milliseconds since 1970. */
  wellAt(): number | undefined;
  /** Signs once more, and no more. */
  stop(): Promise<void>;
}

/**
 * Signs until stopped. A round that fails is logged and tried again by the next. Calls `onSeal` with the newest seal that each round
 * reads. Throws `CheckpointKeyLost` at the start alone.
 */
export function startCheckpoints(
  storage: string,
  database: Database,
  journal: Journal,
  clock: Clock,
  log: Logger,
  onSeal: (seal: Seal) => void = () => {},
): CheckpointRounds {
  const signer = new CheckpointSigner(storage);
  const history = {
    newest: async () => {
      const seal = await journal.newestSeal();
      if (seal) onSeal(seal);
      return seal;
    },
    numbered: (number: number) => findSeal(database, number),
  };
  let wellAt: number | undefined;
  const sign = async () => {
    try {
      await signer.sign(history, clock.now());
      wellAt = clock.now();
    } catch (error) {
      log.error({ err: error }, 'no checkpoint could be signed');
    }
  };
  let signing = Promise.resolve();
  const signNext = () => {
    signing = signing.then(sign); // one after the other, or an older seal could come behind a newer
    return signing;
  };
  const timer = setInterval(signNext, EVERY_MS);
  return {
    newestAt: () => signer.newestAt(),
    wellAt: () => wellAt,
    async stop() {
      clearInterval(timer);
      await signNext();
    },
  };
}
