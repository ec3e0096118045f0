// The credentials of a request as RFC 6750 has them: `Authorization: Bearer …`.
import type { FastifyRequest } from 'fastify';

/** The longest credentials that are looked at. */
const CREDENTIALS_MAXIMUM = 136;

/** What stands behind `Bearer`, or undefined where the header is missing, of another kind, or overlong. */
export function bearerOf(request: FastifyRequest): string | undefined {
  const credentials = request.headers.authorization;
  if (
    credentials === undefined ||
    credentials.length > CREDENTIALS_MAXIMUM ||
    !/^bearer +/i.test(credentials)
  )
    return undefined;
  return credentials.slice(7).trim();
}
