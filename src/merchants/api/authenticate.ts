// Authenticates requests under /v1: finds the Bearer key (RFC 6750), or answers 401.
import type { FastifyRequest } from 'fastify';
import { OperationalError } from '../../lib/errors.ts';
import type { Clock } from '../../lib/time.ts';
import type { Database } from '../../store/database.ts';
import { bearerOf } from '../../web/headers.ts';
import type { Refuse } from '../../web/rate-limit.ts';
import { note } from '../../web/request-log.ts';
import type { Directory } from '../directory.ts';
import { lookUpCaller } from '../follow.ts';
import type { KeyUses } from '../key-uses.ts';
import { type Caller, keyFault, REFUSED_KEY, SUSPENDED_MERCHANT } from '../merchant.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}

export interface Authentication {
  database: Database;
  directory: Directory;
  keyUses: KeyUses;
  clock: Clock;
  refuse: Refuse;
}

/** Whether an accepted request's key is still active and its merchant not suspended, as far as this node knows. */
export function stillCalls(request: FastifyRequest, directory: Directory, now: number): boolean {
  return (
    directory.find(bearerOf(request)!, now) !== undefined &&
    !directory.isSuspended(request.caller.merchant.id)
  );
}

/**
 * Returns a hook that sets `request.caller`. A key that this node knows is let through at once; only one that it does not know is
 * looked up in the store, and not even that where its address has sent too many wrong ones. Throws what `refuse` gives (`unauthorized`,
 * with a word of its own for a key that is not whole and else in the same words whatever is wrong with it, or `rate_limited`),
 * `forbidden` where its merchant is suspended, and `DatabaseError`.
 */
export function authenticator({ database, directory, keyUses, clock, refuse }: Authentication) {
  const admit = (request: FastifyRequest, caller: Caller, now: number) => {
    request.caller = caller;
    keyUses.note(caller.key.id, now);
    if (directory.isSuspended(caller.merchant.id))
      throw new OperationalError('forbidden', SUSPENDED_MERCHANT);
  };
  const lookUp = async (request: FastifyRequest, key: string, now: number) => {
    // Counted before the store is asked, or it would be asked about all that come in one stretch.
    const refusal = refuse(request, REFUSED_KEY);
    const { caller, key: known } = await lookUpCaller(database, directory, key, now).catch((error) => {
      refuse.takeBack(request);
      throw error;
    });
    if (!caller) {
      if (known) note(request, { merchant: known.merchant_id, key: known.id });
      throw refusal;
    }
    refuse.takeBack(request);
    admit(request, caller, now);
  };
  return (request: FastifyRequest): Promise<void> | undefined => {
    const now = clock.now();
    const key = bearerOf(request);
    const known = key === undefined ? undefined : directory.find(key, now);
    if (known) {
      admit(request, known, now);
      return undefined;
    }
    const fault = key === undefined ? undefined : keyFault(key);
    if (key === undefined || fault || refuse.isSpent(request)) throw refuse(request, fault ?? REFUSED_KEY);
    return lookUp(request, key, now);
  };
}
