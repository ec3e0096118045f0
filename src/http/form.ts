// Forms that browsers send: taken as the fields they are, and told from those of other sites.
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { OperationalError } from '../lib/errors.ts';

export const FORM_TYPE = 'application/x-www-form-urlencoded';
const FORM_BYTES = 16 * 1024;

/** Has `scope` read forms: `request.body` is then a `URLSearchParams`. Raises `bad_request` in requests whose form is not UTF-8. */
export function readForms(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    FORM_TYPE,
    { parseAs: 'buffer', bodyLimit: FORM_BYTES },
    (_request, body: Buffer, done) => {
      if (isUtf8(body)) done(null, new URLSearchParams(body.toString()));
      else done(new OperationalError('bad_request', 'The form is not UTF-8.'));
    },
  );
}

/** Whether a request says that it is a form. */
export function isForm(headers: IncomingHttpHeaders): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '');
}

/**
 * Whether a POST comes from a browser: each says where its page is from, by Fetch Metadata or by Origin, or has a cookie of ours
 * behind a proxy that takes both away. `curl -d` calls what it sends a form, and says none of it.
 */
export function isBrowser({ origin, cookie, ...headers }: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-site'] !== undefined || origin !== undefined || cookie !== undefined;
}

/**
 * Whether a browser says that a POST comes from our own page: by Fetch Metadata where it sends that, else by Origin. A page
 * sent with `no-referrer` has an Origin of `null` even to itself, and other programs send none: there a token in the form decides.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin === undefined || headers.origin === 'null' || headers.origin === origin;
}
