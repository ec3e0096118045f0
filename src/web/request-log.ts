// The line that the log has of each request: what came of it, why, and where it came from where that matters.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorDetails, Limit } from '../lib/errors.ts';
import { isNamedByCaller } from '../lib/faults.ts';
import type { Logger } from '../lib/log.ts';

/** What a request's line says besides. It holds no personal data but `from`, and nothing that the caller wrote. */
export interface Noted {
  /** The error's code. */
  code?: string;
  /** The names of the fields at fault. */
  fields?: readonly string[];
  /** Fields whose names were probably mistyped and that were ignored, by their right names; `other` for names like none of ours. */
  ignored?: readonly string[];
  /** The limit that was met. */
  limit?: Limit;
  /** What became of the idempotency key. */
  idempotency?: 'kept' | 'replayed' | 'reused' | 'in_progress';
  /** What became of a sign-in. */
  sign_in?: 'signed_in' | 'set_up' | 'wrong_password' | 'wrong_factor' | 'must_wait' | 'expired';
  /** The account that a request is about, although the caller did not prove to be its owner. */
  merchant?: string;
  key?: string;
  administrator?: string;
  token?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    noted: Noted | undefined;
  }
}

/** Statuses of which the log says where the request came from. */
const TRACED = new Set([401, 403, 429]);
const FIELDS_MAXIMUM = 10;
/** A part of a name as the API and the forms write their fields. */
const NAME = /^[a-z_]{1,40}$/;

/** Adds to the line of a request. */
export function note(request: FastifyRequest, what: Noted): void {
  request.noted = { ...request.noted, ...what };
}

/** Adds the names of the fields at fault. A name that the caller wrote becomes `other`, and all below `metadata` becomes `metadata`. */
export function noteFields(
  request: FastifyRequest,
  faults: ErrorDetails | Readonly<Record<string, unknown>>,
): void {
  const names = Object.entries(faults).map(([name, fault]) => {
    if (/^metadata(\.|$)/.test(name)) return 'metadata';
    if (isNamedByCaller(fault)) return 'other';
    const parts = name.replaceAll('-', '_').split('.');
    return parts.every((part) => NAME.test(part)) ? parts.join('.') : 'other';
  });
  if (names.length > 0) note(request, { fields: [...new Set(names)].slice(0, FIELDS_MAXIMUM) });
}

export interface RequestLog {
  log: Logger;
  /** Who sent a request, in the fields of its line. */
  actor(request: FastifyRequest): object;
  /** What the log holds of an address: see `addressForLog`. */
  loggedAddress(ip: string): string;
}

/** Writes the line of a request that was answered. */
export function logRequest(
  { log, actor, loggedAddress }: RequestLog,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { noted } = request;
  const isTraced = TRACED.has(reply.statusCode) || noted?.sign_in !== undefined;
  log.info(
    {
      request_id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 100) / 100,
      ...(isTraced && { from: loggedAddress(request.ip) }),
      ...actor(request),
      ...noted,
    },
    'request',
  );
}
