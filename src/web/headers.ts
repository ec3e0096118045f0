// Headers of the APIs: what each answer carries, what a request prefers (RFC 7240), and its bearer credentials (RFC 6750).
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Of every JSON answer: data for servers, never a page, never kept. */
export const API_HEADERS = {
  'content-type': JSON_TYPE,
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

/** The header of an answer that honoured strict handling: `Preference-Applied` (RFC 7240, section 3). */
export const STRICT_APPLIED = { 'preference-applied': 'handling=strict' } as const;

/** Returns the seconds of the first `Prefer: wait=…` (RFC 7240, section 4.3); undefined if there is none. */
export function preferredWait({ prefer }: IncomingHttpHeaders): number | undefined {
  const [, seconds] =
    /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec([prefer].flat().join(',')) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}

/** `Prefer: handling=strict` (RFC 7240, section 4.4): unknown fields are refused. */
export function prefersStrictHandling({ prefer }: IncomingHttpHeaders): boolean {
  return (
    prefer !== undefined &&
    [prefer].flat().some((value) => /(?:^|[,;])\s*handling\s*=\s*"?strict"?\s*(?:$|[,;])/i.test(value))
  );
}

/** `Prefer: respond-async` (RFC 7240, section 4.1): the answer does not wait for what was asked. */
export const prefersAsync = ({ prefer }: IncomingHttpHeaders): boolean =>
  /(?:^|[,;])\s*respond-async\s*(?:$|[,;])/i.test([prefer].flat().join(','));

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
