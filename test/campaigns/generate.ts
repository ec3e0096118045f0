// Requests nobody sends by accident: valid, nearly valid and nasty ones on every route, as raw text and not only as a serialiser writes it.
import fc from 'fast-check';
import { STATUSES } from '../../src/payments/payment.ts';
import { body, from, mostly, nasty, text, UNKNOWN_ID } from '../support/generate-bodies.ts';
import { EXPIRED_KEY, KEY, OTHER_KEY } from '../support/harness.ts';
import { CANARY, METHODS, ODD_ENCODINGS, ODD_IDS, ODD_PATHS } from '../support/nasty-values.ts';
import type { WireRequest } from '../support/wire-client.ts';

/** Stands in a path for the id of an earlier payment, counted from the newest, and for the newest cursor. */
const ID_TOKEN = /@id(\d)/g;
const CURSOR_TOKEN = '@cursor';

/** What earlier answers told, oldest first. */
export interface Known {
  ids: readonly string[];
  cursor: string | undefined;
}

/** Puts earlier ids and cursors where a generated request has tokens for them. */
export function fill(request: WireRequest, known: Known): WireRequest {
  if (!request.path.includes('@')) return request;
  const path = request.path
    .replace(ID_TOKEN, (_token, back) => known.ids.at(-1 - Number(back)) ?? UNKNOWN_ID)
    .replaceAll(CURSOR_TOKEN, known.cursor ?? Buffer.from(UNKNOWN_ID).toString('base64url'));
  return { ...request, path };
}

const latin1 = fc.string({
  unit: from([...' !"#$%&()*,;=@[]^{|}~aZ09é\u00ff\t'] as string[]),
  maxLength: 12,
});
const authorization = fc.oneof(
  { arbitrary: fc.constant(`Bearer ${KEY}`), weight: 40 },
  { arbitrary: from([`bearer ${OTHER_KEY}`, `BEARER   ${OTHER_KEY}  `]), weight: 6 },
  {
    arbitrary: from([
      `Bearer ${EXPIRED_KEY}`,
      `Basic ${KEY}`,
      KEY,
      'Bearer',
      'Bearer ',
      `Bearer ${KEY.slice(0, -1)}`,
      `Bearer ${OTHER_KEY.slice(0, -1)}x`,
      `Bearer ${KEY},${OTHER_KEY}`,
      `Bearer ${'a'.repeat(500)}`,
      '',
      CANARY,
    ]),
    weight: 2,
  },
  { arbitrary: latin1.map((junk) => `Bearer ${junk}`), weight: 1 },
);
const contentType = mostly(
  fc.constant('application/json'),
  from([
    'application/json; charset=utf-8',
    'APPLICATION/JSON;charset="UTF-8"',
    'application/json; charset=latin1',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json, text/plain',
    '',
    'json',
    CANARY,
  ]),
  16,
);
const idempotencyKey = mostly(
  fc.integer({ min: 0, max: 40 }).map((n) => `key-${n}`),
  fc.oneof(from(['', ' ', 'k'.repeat(255), 'k'.repeat(256), '"quoted"', 'é', "' or 1=1 --", 'a, b']), latin1),
);
const extraHeader = fc.oneof(
  from([
    ['Prefer', 'handling=strict'],
    ['Prefer', 'return=minimal; handling="strict"'],
    ['Prefer', 'handling=lenient'],
    ['X-Request-Id', CANARY],
    ['X-Forwarded-Host', 'evil.example'],
    ['Content-Encoding', 'gzip'],
    ['Accept', 'text/html'],
    ['Origin', 'https://evil.example'],
    ['Cookie', 'a=b'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['Range', 'bytes=0-1'],
    ['If-None-Match', '*'],
    ['Accept-Encoding', 'gzip, br'],
    ['Authorization', 'Bearer x'],
  ] as [string, string][]),
  fc.tuple(from(['Accept-Version', 'X-Junk', 'Referer', 'Date', 'Accept-Language']), latin1),
);
const headers = fc
  .tuple(
    mostly<string | null>(authorization, fc.constant(null), 40),
    mostly<string | null>(contentType, fc.constant(null), 16),
    mostly<string | null>(fc.constant(null), idempotencyKey, 3),
    fc.array(extraHeader, { maxLength: 2 }),
  )
  .map(([credentials, type, key, extra]): [string, string][] => [
    ...(credentials === null ? [] : [['Authorization', credentials] as [string, string]]),
    ...(type === null ? [] : [['Content-Type', type] as [string, string]]),
    ...(key === null ? [] : [['Idempotency-Key', key] as [string, string]]),
    ...extra,
  ]);

const idText = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 9 }).map((back) => `@id${back}`), weight: 20 },
  {
    arbitrary: from([UNKNOWN_ID, ...ODD_IDS]),
    weight: 3,
  },
  { arbitrary: nasty.filter((junk) => junk.isWellFormed()).map(encodeURIComponent), weight: 1 },
);
const encodedText = fc.oneof(
  text.filter((value) => value.isWellFormed()).map(encodeURIComponent),
  from(ODD_ENCODINGS),
);
const parameter = fc.oneof(
  mostly(
    fc.integer({ min: 1, max: 12 }).map(String),
    from(['0', '101', '-1', '1e1', '٣', '', '%31', '9'.repeat(30), '1 ', 'NaN']),
  ).map((n) => `limit=${n}`),
  mostly(
    from(['@cursor', '@cursor', '@cursor&limit=3']),
    fc.oneof(from(['', 'x', '@cursor=', '@cursor%3D']), encodedText),
  ).map((c) => `cursor=${c}`),
  mostly(from(STATUSES), from(['expired', 'Pending', '', 'pending%00'])).map((status) => `status=${status}`),
  encodedText.map((reference) => `merchant_reference=${reference}`),
  from([
    'merchant_reference=Order+1',
    'limit[]=1',
    'limit[a]=1',
    '__proto__=1',
    'constructor=1',
    'toString=1',
    '=',
    '&&',
    ';',
    'lang=de',
  ]),
  encodedText,
);
const query = fc
  .array(parameter, { maxLength: 3 })
  .map((all) => (all.length === 0 ? '' : `?${all.join('&')}`));

const reading = mostly(from(['GET', 'GET', 'HEAD']), from(METHODS), 12);
const writing = mostly(fc.constant('POST'), from(METHODS), 24);

const noBody = fc.constant<Buffer | undefined>(undefined);
const route = (
  method: fc.Arbitrary<string>,
  path: fc.Arbitrary<string>,
  content: fc.Arbitrary<Buffer | undefined>,
  weight: number,
) => ({
  arbitrary: fc.record({ method, path, headers, body: content }) as fc.Arbitrary<WireRequest>,
  weight,
});

/** Any request. Its path may hold tokens: see `fill`. */
export const request: fc.Arbitrary<WireRequest> = fc.oneof(
  route(
    writing,
    mostly(
      fc.constant('/v1/payments'),
      query.map((q) => `/v1/payments${q}`),
      20,
    ),
    body,
    24,
  ),
  route(
    reading,
    query.map((q) => `/v1/payments${q}`),
    mostly(noBody, body, 20),
    12,
  ),
  route(
    reading,
    fc.tuple(idText, mostly(fc.constant(''), query)).map(([id, q]) => `/v1/payments/${id}${q}`),
    noBody,
    12,
  ),
  route(
    writing,
    idText.map((id) => `/v1/payments/${id}/cancel`),
    fc.oneof(noBody, body),
    12,
  ),
  route(
    reading,
    fc.oneof(idText, encodedText).map((id) => `/payment.php?payment_id=${id}`),
    noBody,
    6,
  ),
  route(mostly(fc.constant('GET'), from(METHODS)), from(ODD_PATHS), mostly(noBody, body), 4),
  route(reading, fc.constant('/health'), noBody, 1),
);
