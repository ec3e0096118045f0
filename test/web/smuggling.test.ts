// Request smuggling: whatever two readers of one stream could disagree about is refused and closed, or answered exactly once.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { KEY, sharedHarness } from '../support/harness.ts';
import { exchange, parseAnswers } from '../support/wire-client.ts';

const AUTHORIZED = `Host: pay.test\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
const POST = `POST /v1/payments HTTP/1.1\r\n${AUTHORIZED}`;
const BODY = '{"amount":1,"merchant_reference":"OUTER"}';
/** What must never be carried out. */
const INNER_BODY = '{"amount":6.66,"merchant_reference":"SMUGGLED"}';
const INNER = `POST /v1/payments HTTP/1.1\r\n${AUTHORIZED}Content-Length: ${INNER_BODY.length}\r\n\r\n${INNER_BODY}`;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const CHUNKED = `${chunk(BODY)}0\r\n\r\n`;
const LENGTH = `Content-Length: ${BODY.length}\r\n`;

/** Refused, and the connection closed behind it: a name, and what is sent before the request that must not be carried out. */
const REFUSED: [string, string][] = [
  // Both ways to tell where a body ends (RFC 9112, section 6.3)
  [
    'CL.TE: a length, and chunks that end sooner',
    `${POST}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'TE.CL: chunks, and a length that ends sooner',
    `${POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${CHUNKED}`,
  ],
  ['a length and chunks that agree', `${POST}${LENGTH}Transfer-Encoding: chunked\r\n\r\n${CHUNKED}`],
  ['a length and an encoding that is none', `${POST}${LENGTH}Transfer-Encoding: identity\r\n\r\n${BODY}`],
  // Encodings that only one of two readers takes for chunked
  ['TE.TE: chunked twice in one header', `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n${CHUNKED}`],
  ['gzip in chunks', `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n${CHUNKED}`],
  ['identity in chunks', `${POST}Transfer-Encoding: identity, chunked\r\n\r\n${CHUNKED}`],
  [
    'gzip and chunked in two headers',
    `${POST}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKED}`,
  ],
  ['chunked, identity', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n${CHUNKED}`],
  ['identity alone', `${POST}Transfer-Encoding: identity\r\n\r\n${CHUNKED}`],
  ['xchunked', `${POST}Transfer-Encoding: xchunked\r\n\r\n${CHUNKED}`],
  ['chunkedx', `${POST}Transfer-Encoding: chunkedx\r\n\r\n${CHUNKED}`],
  ['chunked in quotes', `${POST}Transfer-Encoding: "chunked"\r\n\r\n${CHUNKED}`],
  ['chunked with a parameter', `${POST}Transfer-Encoding: chunked;q=1\r\n\r\n${CHUNKED}`],
  ['chunked behind a vertical tab', `${POST}Transfer-Encoding: \x0bchunked\r\n\r\n${CHUNKED}`],
  ['an encoding of nothing', `${POST}Transfer-Encoding:\r\n\r\n${CHUNKED}`],
  ['a space before the colon of Transfer-Encoding', `${POST}Transfer-Encoding : chunked\r\n\r\n${CHUNKED}`],
  ['a tab before the colon of Transfer-Encoding', `${POST}Transfer-Encoding\t: chunked\r\n\r\n${CHUNKED}`],
  ['a space before Transfer-Encoding', `${POST}X: 1\r\n Transfer-Encoding: chunked\r\n\r\n${CHUNKED}`],
  ['an encoding folded onto the next line', `${POST}Transfer-Encoding:\r\n chunked\r\n\r\n${CHUNKED}`],
  ['NUL in Transfer-Encoding', `${POST}Transfer-Encoding: chunked\0\r\n\r\n${CHUNKED}`],
  // Lengths that two readers take for different numbers
  ['two lengths that differ', `${POST}Content-Length: 0\r\n${LENGTH}\r\n${BODY}`],
  ['two lengths that agree', `${POST}${LENGTH}${LENGTH}\r\n${BODY}`],
  ['two lengths in one header', `${POST}Content-Length: ${BODY.length}, ${BODY.length}\r\n\r\n${BODY}`],
  ['a length with a sign', `${POST}Content-Length: +${BODY.length}\r\n\r\n${BODY}`],
  ['a length in hexadecimal', `${POST}Content-Length: 0x29\r\n\r\n${BODY}`],
  ['a length with an underscore', `${POST}Content-Length: 4_1\r\n\r\n${BODY}`],
  ['a length with a space in it', `${POST}Content-Length: 4 1\r\n\r\n${BODY}`],
  ['a length of nothing', `${POST}Content-Length:\r\n\r\n${BODY}`],
  ['a length beyond 64 bits', `${POST}Content-Length: 18446744073709551657\r\n\r\n${BODY}`],
  ['a space before the colon of Content-Length', `${POST}Content-Length : 0\r\n\r\n`],
  // Lines and headers
  [
    'lines that end in LF alone',
    `POST /v1/payments HTTP/1.1\n${AUTHORIZED.replaceAll('\r', '')}Content-Length: 0\n\n`,
  ],
  ['one header that ends in LF alone', `${POST}X: 1\nContent-Length: 0\r\n\r\n`],
  ['a bare CR in a header', `${POST}X: 1\rTransfer-Encoding: chunked\r\n\r\n${CHUNKED}`],
  ['a folded header', `${POST}X: 1\r\n 2\r\nContent-Length: 0\r\n\r\n`],
  ['NUL in a header', `${POST}X: 1\0\r\nContent-Length: 0\r\n\r\n`],
  ['NUL in the name of a header', `${POST}X\0: 1\r\nContent-Length: 0\r\n\r\n`],
  ['a header without a name', `${POST}: 1\r\nContent-Length: 0\r\n\r\n`],
  ['a space in the name of a header', `${POST}Content Length: 0\r\n\r\n`],
  [
    'a space before the first header',
    `POST /v1/payments HTTP/1.1\r\n ${AUTHORIZED}Content-Length: 0\r\n\r\n`,
  ],
  // Chunks
  [
    'a chunk size beyond 64 bits',
    `${POST}Transfer-Encoding: chunked\r\n\r\n10000000000000029\r\n${BODY}\r\n0\r\n\r\n`,
  ],
  ['a chunk size with 0x', `${POST}Transfer-Encoding: chunked\r\n\r\n0x29\r\n${BODY}\r\n0\r\n\r\n`],
  ['a chunk size with a sign', `${POST}Transfer-Encoding: chunked\r\n\r\n+29\r\n${BODY}\r\n0\r\n\r\n`],
  [
    'a chunk size with a space before it',
    `${POST}Transfer-Encoding: chunked\r\n\r\n 29\r\n${BODY}\r\n0\r\n\r\n`,
  ],
  ['a chunk size that ends in LF alone', `${POST}Transfer-Encoding: chunked\r\n\r\n29\n${BODY}\r\n0\r\n\r\n`],
  ['a chunk that ends in LF alone', `${POST}Transfer-Encoding: chunked\r\n\r\n29\r\n${BODY}\n0\r\n\r\n`],
  ['a chunk that ends in nothing', `${POST}Transfer-Encoding: chunked\r\n\r\n29\r\n${BODY}0\r\n\r\n`],
  [
    'a chunk extension with a bare LF',
    `${POST}Transfer-Encoding: chunked\r\n\r\n29;a\nb\r\n${BODY}\r\n0\r\n\r\n`,
  ],
  ['a chunk extension with NUL', `${POST}Transfer-Encoding: chunked\r\n\r\n29;a\0\r\n${BODY}\r\n0\r\n\r\n`],
  // Versions and targets
  ['HTTP/2.0 in HTTP/1 form', `${POST.replace('HTTP/1.1', 'HTTP/2.0')}${LENGTH}\r\n${BODY}`],
  ['HTTP/1.2', `${POST.replace('HTTP/1.1', 'HTTP/1.2')}${LENGTH}\r\n${BODY}`],
  ['a version of two digits', `${POST.replace('HTTP/1.1', 'HTTP/1.10')}${LENGTH}\r\n${BODY}`],
  ['a version in lower case', `${POST.replace('HTTP/1.1', 'http/1.1')}${LENGTH}\r\n${BODY}`],
  ['a tab in the request line', `${POST.replace(' HTTP', '\tHTTP')}${LENGTH}\r\n${BODY}`],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/0.9', 'GET /v1/payments\r\n'],
  ['an authority as the target', `${POST.replace('/v1/payments', 'evil.example:80')}${LENGTH}\r\n${BODY}`],
];

describe('request smuggling', () => {
  const service = sharedHarness('sqlite');
  let port: number;
  before(async () => {
    port = Number(new URL(service.origin).port);
  });

  async function references(): Promise<string[]> {
    const rows = await service.service.database.query<{ merchant_reference: string }>(
      'select merchant_reference from payments order by id',
    );
    return rows.map(({ merchant_reference }) => merchant_reference);
  }

  /** What a stream is answered with, and the references of the payments that came of it. */
  async function sent(
    stream: string,
    hangUpAfterMs = 300,
  ): Promise<{ statuses: number[]; made: string[]; closed: boolean }> {
    const before = (await references()).length;
    const answers = parseAnswers(await exchange(port, Buffer.from(stream, 'latin1'), hangUpAfterMs));
    return {
      statuses: answers.map(({ status }) => status),
      made: (await references()).slice(before),
      closed: answers.at(-1)?.headers.get('connection') === 'close',
    };
  }

  for (const [title, stream] of REFUSED) {
    test(`${title} is refused once and closed, and nothing behind it is carried out.`, async () => {
      const { statuses, made, closed } = await sent(stream + INNER);
      assert.deepEqual(made, []);
      assert.equal(statuses.length, 1);
      assert.ok(statuses[0]! >= 400 && statuses[0]! < 500, String(statuses));
      assert.ok(closed);
    });
  }

  test('a length that is too short leaves a rest that is no request, and is refused.', async () => {
    const { statuses, made } = await sent(`${POST}Content-Length: ${BODY.length - 1}\r\n\r\n${BODY}${INNER}`);
    assert.ok(
      [1, 2].includes(statuses.length) && statuses.every((status) => status === 400),
      String(statuses),
    );
    assert.deepEqual(made, []);
  });

  test('a length that is too long takes in what follows as its body, which is no JSON.', async () => {
    const whole = BODY + INNER;
    const { statuses, made } = await sent(`${POST}Content-Length: ${whole.length}\r\n\r\n${whole}`);
    assert.deepEqual(statuses, [400]);
    assert.deepEqual(made, []);
  });

  test('a request in the body of another is its body alone.', async () => {
    const bodies = `${POST}Transfer-Encoding: chunked\r\n\r\n${chunk(INNER)}0\r\n\r\n`;
    for (const stream of [`${POST}Content-Length: ${INNER.length}\r\n\r\n${INNER}`, bodies]) {
      const { statuses, made } = await sent(stream);
      assert.deepEqual(statuses, [400]);
      assert.deepEqual(made, []);
    }
  });

  test('a request in the body of a GET, of a refused key or of an unknown path is its body alone.', async () => {
    const length = `Content-Length: ${INNER.length}\r\n\r\n`;
    for (const head of [
      `GET /v1/payments HTTP/1.1\r\n${AUTHORIZED}`,
      `GET /health HTTP/1.1\r\nHost: x\r\n`,
      `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nobody\r\n`,
      `POST /nothing HTTP/1.1\r\nHost: x\r\n`,
      `DELETE /health HTTP/1.1\r\nHost: x\r\n`,
    ]) {
      const { statuses, made } = await sent(head + length + INNER);
      assert.equal(statuses.length, 1, head);
      assert.deepEqual(made, [], head);
    }
  });

  test('requests one behind the other are each answered once, in their order.', async () => {
    const one = `${POST}${LENGTH}\r\n${BODY}`;
    const { statuses, made } = await sent(`${one}GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n${one}`);
    assert.deepEqual(statuses, [201, 404, 201]);
    assert.deepEqual(made, ['OUTER', 'OUTER']);
  });

  test('what is written unusually but means one thing is taken, once.', async () => {
    for (const stream of [
      `${POST}Transfer-Encoding: chunked\r\n\r\n${CHUNKED}`,
      `${POST}Transfer-Encoding: CHUNKED\r\n\r\n${CHUNKED}`,
      `${POST}Transfer-Encoding: \tchunked \r\n\r\n${CHUNKED}`,
      `${POST}Transfer-Encoding: chunked\r\n\r\n000${CHUNKED}`,
      `${POST}Transfer-Encoding: chunked\r\n\r\n29;name="value"\r\n${BODY}\r\n0\r\nTrailer: 1\r\n\r\n`,
      `${POST}Content-Length: 0${BODY.length}\r\n\r\n${BODY}`,
      `\r\n${POST}${LENGTH}\r\n${BODY}`,
      `${POST.replace(' HTTP', '  HTTP')}${LENGTH}\r\n${BODY}`,
    ]) {
      const { statuses, made } = await sent(stream);
      assert.deepEqual([statuses, made], [[201], ['OUTER']], JSON.stringify(stream.slice(-120)));
    }
  });

  test('trailers change nothing: no length, encoding or credentials come in behind a body.', async () => {
    const head = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const body = `${chunk(BODY)}0\r\nAuthorization: Bearer ${KEY}\r\n`;
    for (const [stream, status] of [
      [`${head}${body}\r\n`, 401],
      [`${head}${body}Content-Length: 3\r\n\r\n`, 400],
    ] as const) {
      const { statuses, made } = await sent(stream);
      assert.equal(statuses[0], status);
      assert.deepEqual(made, []);
    }
  });

  test('what came whole is answered before what is no HTTP behind it, which is told so once.', async () => {
    const whole = `${POST}${LENGTH}\r\n${BODY}`;
    const { statuses, made, closed } = await sent(
      `${whole}GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n${whole}GET \r\n\r\n\r\n`,
      0, // who has hung up before is told nothing more
    );
    assert.deepEqual(statuses, [201, 404, 201, 400]);
    assert.deepEqual(made, ['OUTER', 'OUTER']);
    assert.ok(closed);
  });

  test('behind a request whose syntax is refused by us and not by the parser, nothing is carried out.', async () => {
    const many = Array.from({ length: 64 }, (_, i) => `X-${i}: 1\r\n`).join('');
    for (const stream of [
      'GET /health HTTP/1.1\r\n\r\n',
      'GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
      `GET /health HTTP/1.1\r\nHost: x\r\n${many}\r\n`,
      `GET /health?${'x'.repeat(8192)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    ]) {
      const { statuses, made, closed } = await sent(stream + INNER);
      assert.equal(statuses.length, 1);
      assert.ok(closed && statuses[0]! >= 400);
      assert.deepEqual(made, []);
    }
  });

  test('a target with another host goes nowhere else, and changes no link.', async () => {
    const absolute = POST.replace('/v1/payments', 'http://evil.example/v1/payments');
    const [answer] = parseAnswers(
      await exchange(port, Buffer.from(`${absolute}${LENGTH}Connection: close\r\n\r\n${BODY}`)),
    );
    assert.equal(answer?.status, 201);
    assert.doesNotMatch(`${answer!.body}${answer!.headers.get('location')}`, /evil/);
    const userinfo = POST.replace('/v1/payments', 'http://pay.test@evil.example/v1/payments');
    const { statuses } = await sent(`${userinfo}${LENGTH}Connection: close\r\n\r\n${BODY}`);
    assert.ok(statuses.length === 1);
  });

  test('chunk extensions without end are refused before they cost much.', async () => {
    const endless = `29;${'x'.repeat(200_000)}\r\n${BODY}\r\n0\r\n\r\n`;
    const { statuses, made } = await sent(`${POST}Transfer-Encoding: chunked\r\n\r\n${endless}${INNER}`);
    assert.equal(statuses.length, 1);
    assert.ok([400, 413].includes(statuses[0]!), String(statuses));
    assert.deepEqual(made, []);
  });
});
