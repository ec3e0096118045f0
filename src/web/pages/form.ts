// Reads forms that browsers send, and tells them from those of other sites.
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { boundCookie, boundName, valueIn } from '../../lib/cookie.ts';
import { OperationalError } from '../../lib/errors.ts';
import { phrase } from '../../lib/phrases.ts';
import { hmac, isSame } from '../../lib/secrets.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';
/** How long a form may be, where its surface does not say otherwise. */
export const FORM_BYTES = 16 * 1024;

/**
 * Makes `scope` read forms of at most `bodyLimit` bytes: `request.body` is then a `URLSearchParams`. Requests whose form is not UTF-8 fail
 * with `bad_request`.
 */
export function readForms(scope: FastifyInstance, bodyLimit: number): void {
  scope.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer', bodyLimit }, (_request, body: Buffer, done) => {
    if (isUtf8(body)) done(null, new URLSearchParams(body.toString()));
    else done(new OperationalError('bad_request', phrase('The form is not UTF-8.')));
  });
}

/** The form of a request. Throws `unsupported_media_type` if its body is not one. */
export function formOf({ body }: FastifyRequest): URLSearchParams {
  if (body instanceof URLSearchParams) return body;
  throw new OperationalError('unsupported_media_type', `The form must be ${FORM_TYPE}.`);
}

/** Whether a request says that it is a form. */
export function isForm(headers: IncomingHttpHeaders): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '');
}

/**
 * Whether a POST comes from a browser: a browser sends Fetch Metadata or Origin, or a cookie of ours behind a proxy that removes both.
 * `curl -d` calls its body a form, and sends none of them.
 */
export function isBrowser({ origin, cookie, ...headers }: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-site'] !== undefined || origin !== undefined || cookie !== undefined;
}

/**
 * Whether a POST comes from a page of `origin`: by Fetch Metadata, else by Origin (OWASP, Cross-Site Request Forgery Prevention).
 * `whereUnsaid` is the answer to a request that tells neither. A page sent with the referrer policy `no-referrer` has the Origin
 * `null` even to itself: there the form's token decides.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, origin: string, whereUnsaid: boolean): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  if (headers.origin === undefined || headers.origin === 'null') return whereUnsaid;
  return headers.origin === origin;
}

export const newRandom = (): string => randomBytes(32).toString('base64url');

/** Whether `text` may have come from `newRandom`: 256 random bits in base64url. */
export const isRandom = (text: string | null | undefined): text is string => /^[\w-]{43}$/.test(text ?? '');

/** A browser's own secret in the cookie `name`, which no page holds and no other site can read or send; undefined if it has none. */
export function browserSecret(
  { cookie }: IncomingHttpHeaders,
  name: string,
  baseUrl: string,
): string | undefined {
  const found = valueIn(cookie, boundName(name, baseUrl));
  return isRandom(found) ? found : undefined;
}

/** A new secret for a browser, and the Set-Cookie line that gives it to it for as long as it is open. */
export function newBrowserSecret(name: string, baseUrl: string): { secret: string; cookie: string } {
  const secret = newRandom();
  return { secret, cookie: boundCookie(name, secret, baseUrl) };
}

/** The token of a form: `statement` says which form it is. */
export const tokenOf = (secret: string, statement: string): string => hmac(secret, statement);

/** Whether a form holds the token of `statement`, whose secret no page and no other site can read. */
export function holdsToken(form: URLSearchParams, secret: string, statement: string): boolean {
  return isSame(form.get('token') ?? '', tokenOf(secret, statement));
}

/** The fields of a form, and the files that came with it. */
export class FilesForm extends URLSearchParams {
  readonly files: readonly File[];

  constructor(fields: readonly (readonly [string, string])[], files: readonly File[]) {
    super(fields.map(([name, value]) => [name, value]));
    this.files = files;
  }
}

/** Makes `scope` read forms with files of at most `bodyLimit` bytes: `request.body` is then a `FilesForm`. */
export function readFilesForms(scope: FastifyInstance, bodyLimit: number): void {
  scope.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit },
    async (request: FastifyRequest, body: Buffer) => {
      const headers = { 'content-type': request.headers['content-type']! };
      const form = await new Response(body, { headers }).formData().catch(() => {
        throw new OperationalError('bad_request', phrase('The form with files cannot be read.'));
      });
      const all = [...form];
      const fields = all.flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as const] : [],
      );
      // A field without a chosen file comes as one without a name.
      const files = all.flatMap(([, value]) =>
        typeof value === 'string' || value.name === '' ? [] : [value],
      );
      return new FilesForm(fields, files);
    },
  );
}
