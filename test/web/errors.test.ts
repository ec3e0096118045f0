// Errors from the first byte on, over bare sockets: each in the one shape, as JSON, with an id, and without a clue.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, describe, test } from 'node:test';
import pg from 'pg';
import { DatabaseError, type DatabaseFailure } from '../../src/store/database.ts';
import { LIMITS } from '../../src/web/server.ts';
import { type Answer, KEY, sharedHarness, startHarness } from '../support/harness.ts';
import { storeToServe } from '../support/stores.ts';
import { eventually, until } from '../support/waiting.ts';
import { exchange, parseAnswers, type WireAnswer } from '../support/wire-client.ts';

/** Where nothing more comes for so long, the client has said all it had to say. */
const HANG_UP_MS = 100;

/** The first answer to some bytes. */
async function raw(port: number, bytes: string | Buffer, hangUpAfterMs = HANG_UP_MS): Promise<WireAnswer> {
  return parseAnswers(await exchange(port, Buffer.from(bytes as string), hangUpAfterMs))[0]!;
}

/** What reading a payment answers while somebody holds the table: PostgreSQL, so slow that it counts as gone. */
async function readFromStuckStore(): Promise<Answer> {
  const store = await storeToServe('postgres');
  // Its start is as impatient, and may have taken longer.
  const start = () => startHarness('postgres', { store, pace: { answerMs: 1000 } }).catch(() => undefined);
  const service = (await until(start, Boolean))!;
  const holder = new pg.Client(service.store.database_url!);
  await holder.connect();
  try {
    await holder.query('begin; lock table payments in access exclusive mode');
    return await service.request('/v1/payments');
  } finally {
    await holder.end();
    await service.close();
  }
}

describe('errors', () => {
  const service = sharedHarness('sqlite');
  let port: number;
  let stuck: Promise<Answer>;

  before(async () => {
    port = Number(new URL(service.origin).port);
    stuck = readFromStuckStore(); // begun first, since it takes its time; looked at last
    stuck.catch(() => {});
  });

  function assertError(answer: WireAnswer, status: number, code: string, label = ''): void {
    assert.equal(answer.status, status, `${label} ${answer.body}`);
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', label);
    assert.equal(answer.headers.get('cache-control'), 'no-store', label);
    assert.match(answer.headers.get('x-request-id') ?? '', /^req_[0-9a-z]{16}$/, label);
    const { error, ...rest } = JSON.parse(answer.body);
    assert.deepEqual([error.code, typeof error.message, rest], [code, 'string', {}], label);
    assert.doesNotMatch(answer.body, /HPE_|FST_|node_modules|\.ts\b|\bat .*:\d/, label);
  }

  const many = (count: number) => Array.from({ length: count }, (_, i) => `X-${i}: 1\r\n`).join('');
  const H = 'Host: x\r\n';
  const POST = `POST /v1/payments HTTP/1.1\r\n${H}Authorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;

  const STATUS = {
    bad_request: 400,
    unauthorized: 401,
    not_found: 404,
    uri_too_long: 414,
    headers_too_large: 431,
  };
  for (const [title, code, bytes] of [
    ['a bad request line', 'bad_request', 'NONSENSE\r\n\r\n'],
    ['no method', 'bad_request', ` /health HTTP/1.1\r\n${H}\r\n`],
    ['an unknown method', 'bad_request', `FROB /health HTTP/1.1\r\n${H}\r\n`],
    ['bytes of another protocol', 'bad_request', Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0])],
    ['HTTP/2 without a word', 'bad_request', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown version', 'bad_request', `GET /health HTTP/3.7\r\n${H}\r\n`],
    ['HTTP/0.9', 'bad_request', 'GET /health\r\n\r\n'],
    ['no Host', 'bad_request', 'GET /health HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'bad_request', 'GET /health HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n'],
    ['a header without a colon', 'bad_request', `GET /health HTTP/1.1\r\n${H}nonsense\r\n\r\n`],
    ['a space before the colon', 'bad_request', `GET /health HTTP/1.1\r\n${H}X : 1\r\n\r\n`],
    ['a control character in a header', 'bad_request', `GET /health HTTP/1.1\r\n${H}X: a\0b\r\n\r\n`],
    ['a malformed escape', 'bad_request', `GET /v1/payments/%E0%A4%A HTTP/1.1\r\n${H}\r\n`],
    ['an escape that is not UTF-8', 'bad_request', `GET /v1/payments/%ff HTTP/1.1\r\n${H}\r\n`],
    ['Expect: nonsense', 'bad_request', `GET /health HTTP/1.1\r\n${H}Expect: nonsense\r\n\r\n`],
    [
      'both lengths',
      'bad_request',
      `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', 'bad_request', `${POST}Content-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxx`],
    ['a length that is none', 'bad_request', `${POST}Content-Length: -1\r\n\r\n`],
    ['an unknown transfer encoding', 'bad_request', `${POST}Transfer-Encoding: gzip\r\n\r\n`],
    ['a bad chunk', 'bad_request', `${POST}Transfer-Encoding: chunked\r\n\r\nnonsense\r\n`],
    [
      'a chunk longer than announced',
      'bad_request',
      `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}xx\r\n`,
    ],
    ['a target over 8 KiB', 'uri_too_long', `GET /${'x'.repeat(8192)} HTTP/1.1\r\n${H}\r\n`],
    ['a target over 16 KiB', 'uri_too_long', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${H}\r\n`],
    [
      'a target over 8 KiB at checkout',
      'uri_too_long',
      `GET /payment.php?payment_id=${'x'.repeat(8192)} HTTP/1.1\r\n${H}\r\n`,
    ],
    [
      'a header over 16 KiB',
      'headers_too_large',
      `GET /health HTTP/1.1\r\n${H}X: ${'x'.repeat(17_000)}\r\n\r\n`,
    ],
    ['65 headers', 'headers_too_large', `GET /health HTTP/1.1\r\n${H}${many(64)}\r\n`],
    ['65 headers at checkout', 'headers_too_large', `GET /payment.php HTTP/1.1\r\n${H}${many(64)}\r\n`],
    ['1000 headers', 'headers_too_large', `GET /health HTTP/1.1\r\n${H}${many(1000)}\r\n`],
    ['CONNECT', 'not_found', `CONNECT example.org:443 HTTP/1.1\r\n${H}\r\n`],
    ['TRACE', 'not_found', `TRACE /health HTTP/1.1\r\n${H}\r\n`],
    ['OPTIONS *', 'not_found', `OPTIONS * HTTP/1.1\r\n${H}\r\n`],
    ['TRACE below /v1', 'unauthorized', `TRACE /v1/payments HTTP/1.1\r\n${H}\r\n`],
    ['a path that climbs', 'not_found', `GET /assets/../../counterfoil.sqlite HTTP/1.1\r\n${H}\r\n`],
    [
      'a path that climbs escaped',
      'not_found',
      `GET /assets/%2e%2e%2fcounterfoil.sqlite HTTP/1.1\r\n${H}\r\n`,
    ],
  ] as [string, keyof typeof STATUS, string | Buffer][]) {
    test(`${title} is ${STATUS[code]} ${code}.`, async () => {
      assertError(await raw(port, bytes), STATUS[code], code);
    });
  }

  test('a header over 16 KiB in pieces is 431 headers_too_large.', async () => {
    const [socket, [taken]] = [
      connect(port, '127.0.0.1'),
      await once(service.service.app.server, 'connection'),
    ];
    const [head, piece] = [`GET /health HTTP/1.1\r\n${H}X: `, 'x'.repeat(9000)];
    socket.write(head);
    for (const length of [head.length, head.length + piece.length]) {
      await eventually(() => taken.bytesRead >= length);
      socket.write(piece);
    }
    const [answer] = parseAnswers(Buffer.concat(await socket.toArray()));
    assertError(answer!, 431, 'headers_too_large');
  });

  test('what is allowed is answered: 64 headers, a long target, HTTP/1.0 without Host, an absolute target, 100-continue.', async () => {
    for (const text of [
      `GET /health HTTP/1.1\r\n${H}${many(63)}\r\n`,
      `GET /health?${'x'.repeat(8100)} HTTP/1.1\r\n${H}\r\n`,
      'GET /health HTTP/1.0\r\n\r\n',
      `GET http://anything.example/health HTTP/1.1\r\n${H}\r\n`,
      `GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
    ])
      assert.equal((await raw(port, text)).status, 200, text.slice(0, 60));
    const expecting = `${POST}Expect: 100-continue\r\nContent-Length: 12\r\n\r\n{"amount":1}`;
    assert.equal((await raw(port, expecting)).status, 201);
  });

  test('no submitted value, path or query comes back in an error.', async () => {
    for (const [path, body] of [
      ['/SECRET?SECRET=1', undefined],
      ['/v1/payments/SECRET', undefined],
      ['/v1/payments?limit=SECRET&cursor=SECRET&status=SECRET', undefined],
      ['/v1/payments', 'SECRET'],
    ] as const) {
      const answer = await service.request(path, body === undefined ? {} : { method: 'POST', body });
      assert.ok(answer.status >= 400);
      assert.doesNotMatch(answer.text, /SECRET/);
    }
  });

  test('a defect is internal_error, and nothing of it is told.', async () => {
    await using broken = await startHarness('sqlite');
    await broken.service.journal.commit((transaction) =>
      transaction.query('alter table payments rename to gone'),
    );
    const answer = await broken.request('/v1/payments');
    assert.equal(answer.status, 500);
    assert.equal(
      answer.text,
      '{"error":{"code":"internal_error","message":"Something went wrong on our side."}}',
    );
  });

  test('a store that is unavailable is a 503 page with Retry-After at checkout, any other failure 500.', async () => {
    const broken = await startHarness('sqlite');
    const { id } = await broken.create();
    const page = (failure: DatabaseFailure) => {
      broken.service.database.query = () => Promise.reject(new DatabaseError(failure, 'SECRET'));
      return broken.request(`/payment.php?payment_id=${id}`);
    };
    const { query } = broken.service.database;
    try {
      for (const [failure, status, retryAfter] of [
        ['unavailable', 503, '1'],
        ['fault', 500, null],
      ] as const) {
        const answer = await page(failure);
        assert.equal(answer.status, status);
        assert.equal(answer.headers.get('retry-after'), retryAfter);
        assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
        assert.doesNotMatch(answer.text, /SECRET/);
      }
    } finally {
      broken.service.database.query = query;
      await broken.close();
    }
  });

  // Within which time is the campaign `slow-clients`.
  test('headers and a body that do not arrive are 408 request_timeout.', async (context) => {
    for (const name of ['headersTimeoutMs', 'requestTimeoutMs', 'checkTimeoutsEachMs'] as const)
      context.mock.property(LIMITS, name, 20);
    await using impatient = await startHarness('sqlite');
    const { port: own } = new URL(impatient.origin);
    for (const begun of [
      'GET /health HTTP/1.1\r\nX-Slow: ',
      '',
      `${POST}Content-Length: 100\r\n\r\n{"amount"`,
    ])
      assertError(await raw(Number(own), begun, 0), 408, 'request_timeout');
  });

  test('a store that does not answer is 503 unavailable with Retry-After.', async () => {
    const answer = await stuck;
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.json.error.code, 'unavailable');
    assert.equal(answer.headers.get('retry-after'), '1');
  });
});
