// Keeps a node from going back: a store is used only while it holds the newest seal that this node knows of.

import type { Logger } from '../lib/log.ts';
import type { Reader } from '../store/database.ts';
import type { HostGuard } from '../store/postgres-hosts.ts';
import type { Seal } from './audit-entry.ts';
import { findSeal, unlessEmpty } from './queries.ts';

type Known = Pick<Seal, 'number' | 'hash'>;

export class Fence implements HostGuard {
  readonly #log: Pick<Logger, 'error' | 'info'>;
  #newest: Known | undefined;

  /** `known`: the newest seal that is vouched for beside the store, or undefined. */
  constructor(known: Known | undefined, log: Pick<Logger, 'error' | 'info'>) {
    this.#log = log;
    this.#newest = known;
  }

  /**
   * Takes a seal that stands: one of an acknowledged commit, or one that was read before such a commit. A seal that was only read may be
   * taken back by a failover. A node that relied on it would refuse the right store for ever.
   */
  know({ number, hash }: Known): void {
    if (!this.#newest || number > this.#newest.number) this.#newest = { number, hash };
  }

  /**
   * What keeps a store from being used, in words; undefined where its history is the one that is known here. `isOpening`: the
   * service starts or a command runs, and every host has answered. A store put back to an older copy is opened then: the check
   * `vouched_history` keeps the service from starting on it, and `audit restored` needs it open. Throws `DatabaseError`.
   */
  async admit(view: Reader, isOpening: boolean): Promise<string | undefined> {
    const known = this.#newest;
    const found = known && (await unlessEmpty(findSeal(view, known.number)));
    if (found?.hash !== known?.hash) {
      if (!isOpening)
        return found
          ? 'has another history than the one this node knows'
          : 'has a history that ends before the newest seal this node knows';
      this.#newest = undefined;
    }
    return undefined;
  }

  onFiles(fault: string | undefined): void {
    if (fault === undefined)
      this.#log.info('the files of the database are in place again: changes are taken');
    else
      this.#log.error(
        { fault },
        'the database was removed or replaced while it is open: changes are refused. Do not stop this process before counterfoil store rescue has saved what it has open',
      );
  }

  onRefused(host: string, reason: string): void {
    this.#log.error({ host, reason }, 'a host of the database is not used');
  }
}
