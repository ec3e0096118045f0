// Two faults in one request have one right answer: the check that comes first in the order gives it.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { OTHER_KEY, type RequestOptions, sharedHarness } from '../support/harness.ts';

const UNKNOWN = `pay_${'0'.repeat(36)}`;
const TOO_LARGE = `{"amount":0,"x":"${'x'.repeat(64 * 1024)}"`;
const MANY_HEADERS = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`x-${i}`, '1']));
const TEXT = { 'content-type': 'text/plain' };
const BAD_KEY = { 'idempotency-key': 'x'.repeat(256) };
const post = (options: RequestOptions = {}): RequestOptions => ({ method: 'POST', ...options });

const STATUS = {
  bad_request: 400,
  invalid_json: 400,
  unauthorized: 401,
  not_found: 404,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  validation_failed: 422,
  idempotency_key_reused: 422,
  headers_too_large: 431,
};

/** In order, and the faults that either side of each test's title has. */
const CASES: [title: string, path: string, options: RequestOptions, code: keyof typeof STATUS][] = [
  ['a malformed target before a missing key', '/v1/payments/%zz', { key: null }, 'bad_request'],
  [
    'an overlong target before a missing key',
    `/v1/payments?x=${'x'.repeat(8192)}`,
    { key: null },
    'uri_too_long',
  ],
  [
    'too many headers before a missing key',
    '/v1/payments',
    { key: null, headers: MANY_HEADERS },
    'headers_too_large',
  ],
  [
    'overlong headers before a missing key',
    '/v1/payments',
    { key: null, headers: { 'x-long': 'x'.repeat(17_000) } },
    'headers_too_large',
  ],
  ['too many headers before an unknown endpoint', '/nothing', { headers: MANY_HEADERS }, 'headers_too_large'],
  ['a missing key before an unknown endpoint', '/v1/nothing', { key: null }, 'unauthorized'],
  ['a missing key before an unknown method', '/v1/payments', { method: 'PUT', key: null }, 'unauthorized'],
  [
    'a missing key before all that follows',
    '/v1/payments',
    post({ key: null, body: TOO_LARGE, headers: TEXT }),
    'unauthorized',
  ],
  [
    'an unknown endpoint before its media type',
    '/v1/nothing',
    post({ body: 'x', headers: TEXT }),
    'not_found',
  ],
  [
    'an unknown endpoint outside /v1 before its media type',
    '/nothing',
    post({ body: 'x', headers: TEXT }),
    'not_found',
  ],
  [
    'an unknown method before its media type',
    '/v1/payments',
    { method: 'PUT', body: 'x', headers: TEXT },
    'not_found',
  ],
  ['an unknown endpoint before its size', '/v1/nothing', post({ body: TOO_LARGE }), 'not_found'],
  [
    'the media type before the size',
    '/v1/payments',
    post({ body: TOO_LARGE, headers: TEXT }),
    'unsupported_media_type',
  ],
  [
    'the media type before the JSON',
    '/v1/payments',
    post({ body: '{', headers: TEXT }),
    'unsupported_media_type',
  ],
  ['the size before the JSON', '/v1/payments', post({ body: TOO_LARGE }), 'payload_too_large'],
  ['the size before the fields', '/v1/payments', post({ body: `${TOO_LARGE}}` }), 'payload_too_large'],
  ['the JSON before the fields', '/v1/payments', post({ body: '{"amount":0' }), 'invalid_json'],
  [
    'the JSON before the idempotency key',
    '/v1/payments',
    post({ body: '{', headers: BAD_KEY }),
    'invalid_json',
  ],
  [
    'prototype keys before the fields',
    '/v1/payments',
    post({ body: '{"amount":0,"__proto__":{}}' }),
    'invalid_json',
  ],
  [
    'the fields before ownership',
    `/v1/payments/${UNKNOWN}/cancel`,
    post({ headers: BAD_KEY }),
    'validation_failed',
  ],
  [
    'the fields before an idempotency key used already',
    '/v1/payments',
    post({ body: { amount: 0 }, headers: { 'idempotency-key': 'used' } }),
    'validation_failed',
  ],
  [
    'an idempotency key used already before ownership',
    `/v1/payments/${UNKNOWN}/cancel`,
    post({ headers: { 'idempotency-key': 'used' } }),
    'idempotency_key_reused',
  ],
];

describe('order of checks', () => {
  const service = sharedHarness('sqlite');
  before(async () => {
    const headers = { 'idempotency-key': 'used' };
    const { id } = await service.create({}, { headers });
    await service.request(`/v1/payments/${id}/cancel`, post({ headers }));
  });

  for (const [title, path, options, code] of CASES) {
    test(`${title}.`, async () => {
      const answer = await service.request(path, options);
      assert.deepEqual([answer.status, answer.json.error.code], [STATUS[code], code], answer.text);
    });
  }

  test('ownership before the status.', async () => {
    const { id } = await service.create({}, { key: OTHER_KEY });
    await service.request(`/v1/payments/${id}/cancel`, post({ key: OTHER_KEY }));
    const answer = await service.request(`/v1/payments/${id}/cancel`, post());
    assert.equal(answer.status, 404);
    assert.equal((await service.request(`/v1/payments/${id}/cancel`, post({ key: OTHER_KEY }))).status, 409);
  });
});
