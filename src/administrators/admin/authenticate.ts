// The parts of /admin, whose requests bring an administrator token (RFC 6750).
import type { FastifyRequest } from 'fastify';
import type { Act } from '../../journal/audit-entry.ts';
import type { CheckpointLookup } from '../../journal/checkpoint.ts';
import type { Journal } from '../../journal/journal.ts';
import { OperationalError } from '../../lib/errors.ts';
import type { Clock } from '../../lib/time.ts';
import type { Database, Reader } from '../../store/database.ts';
import { bearerOf } from '../../web/headers.ts';
import type { Refuse } from '../../web/rate-limit.ts';
import { note } from '../../web/request-log.ts';
import { may, type Principal } from '../administrator.ts';
import { findTokenPrincipal } from '../token.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal;
  }
}

/**
 * Returns a hook that sets `request.principal`. Throws what `refuse` gives: `unauthorized`, in the same words whatever is wrong with
 * the token, or `rate_limited`. A right one is taken from any address: 256 random bits are not found by trying.
 */
export function authenticator(
  database: Reader,
  refuse: Refuse,
  clock: Clock,
): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const token = bearerOf(request);
    const { principal, refused } =
      token === undefined ? {} : await findTokenPrincipal(database, token, clock.now());
    if (refused) note(request, refused);
    if (!principal) throw refuse(request, 'The administrator token is missing or invalid.');
    request.principal = { ...principal, request_id: request.id };
  };
}

/** For the entries of what a request changes. */
export const administratorActOf = ({ principal, id }: FastifyRequest): Act => ({
  actor: principal.actor,
  request_id: id,
});

/** Throws `forbidden` unless the role of the token allows what the endpoint does; an endpoint that does not say so is refused. */
export function requirePermission({ principal, routeOptions }: FastifyRequest): void {
  const permission = routeOptions.config.may;
  if (permission === undefined || !may(principal.role, permission))
    throw new OperationalError('forbidden', `The role ${principal.role} does not allow this.`);
}

export interface AdminParts {
  database: Database;
  journal: Journal;
  clock: Clock;
  /** What refuses tokens. */
  refuse: Refuse;
  checkoutBaseUrl: string;
  checkpoints: CheckpointLookup;
  /** Of the installation. */
  timeZone: string;
  /** Minor units by currency above which a second administrator must confirm. */
  fourEyesAbove: Readonly<Record<string, number>>;
}
