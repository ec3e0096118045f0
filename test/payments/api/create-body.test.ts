// The body of a request for a payment as bytes: size, media type, encoding, JSON and what JSON may hold.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Answer, KEY, sharedHarness } from '../../support/harness.ts';

const BODY_MAXIMUM = 64 * 1024;
const DEEP = 30_000;

describe('bodies', () => {
  const service = sharedHarness('sqlite');

  const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    service.request('/v1/payments', { method: 'POST', body, headers });

  function assertError(answer: Answer, status: number, code: string, label: string): void {
    assert.equal(answer.status, status, label);
    assert.equal(answer.json.error.code, code, label);
  }

  test('what is not JSON is invalid_json.', async () => {
    for (const body of [
      '',
      ' ',
      '{',
      '{"amount":1,}',
      '{amount:1}',
      '{"amount":1}x',
      '{"amount":+1}',
      '{"amount":.5}',
      '{"amount":1.}',
      '{"a":"\n"}',
      '{"amount":Infinity}',
      '\ufeff',
      '//\n{}',
    ])
      assertError(await post(body), 400, 'invalid_json', JSON.stringify(body));
  });

  test('a body that is not UTF-8 is invalid_json.', async () => {
    const around = (...bytes: number[]) =>
      Buffer.concat([Buffer.from('{"amount":1,"description":"'), Buffer.from(bytes), Buffer.from('"}')]);
    for (const bytes of [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe4]])
      assertError(await post(around(...bytes)), 400, 'invalid_json', String(bytes));
    assertError(await post(Buffer.from('{"amount":1}', 'utf16le')), 400, 'invalid_json', 'UTF-16');
    assert.equal((await post(around(0xc3, 0xa4))).json.data.description, 'ä');
  });

  test('keys that reach into prototypes are invalid_json, however written and wherever they stand.', async () => {
    for (const body of [
      '{"amount":1,"__proto__":{"x":1}}',
      '{"amount":1,"metadata":{"__proto__":null}}',
      '{"amount":1,"x":[{"\\u005f\\u005fproto\\u005f_":1}]}',
      '{"amount":1,"constructor":{"prototype":{}}}',
      '{"amount":1,"metadata":{"a":[{"c\\u006fnstructor":{"prototype":1}}]}}',
    ])
      assertError(await post(body), 400, 'invalid_json', body);
    assert.equal((await post('{"amount":1,"constructor":"x","metadata":{"text":"__proto__"}}')).status, 201);
  });

  test('valid JSON that is not an object is a fault of body.', async () => {
    for (const body of ['null', 'true', '1', '1e400', '"x"', '[]', '[{"amount":1}]']) {
      const answer = await post(body);
      assertError(answer, 422, 'validation_failed', body);
      assert.deepEqual(Object.keys(answer.json.error.details), ['body'], body);
    }
  });

  test('an object that has a member twice is invalid_json, and nothing is made.', async () => {
    for (const body of [
      '{"amount":1,"amount":2}',
      '{"amount":1,"\\u0061mount":1}',
      '{"amount":1,"customer":{"email":"a@example.com","email":"b@example.com"}}',
      '{"amount":1,"metadata":{"a":[{"b":1,"b":1}]}}',
      '{"amount":1,"unknown":{"b":1,"b":1}}',
    ])
      assertError(await post(body), 400, 'invalid_json', body);
  });

  test('a body of 64 KiB is read, one byte more is payload_too_large, announced or chunked.', async () => {
    const filled = (bytes: number) => `{"amount":1,"filler":"${'x'.repeat(bytes - 24)}"}`;
    assert.equal((await post(filled(BODY_MAXIMUM))).status, 201);
    assertError(await post(filled(BODY_MAXIMUM + 1)), 413, 'payload_too_large', 'announced');
    const chunked = await fetch(`${service.origin}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: new Blob([filled(BODY_MAXIMUM + 1)]).stream(),
      duplex: 'half',
    });
    assert.equal(chunked.status, 413);
    assert.equal(((await chunked.json()) as { error: { code: string } }).error.code, 'payload_too_large');
  });

  test('a body nested 100 deep is looked through, one level more is refused, however its numbers are spelled.', async () => {
    const object = (levels: number) => '{"a":'.repeat(levels) + 1 + '}'.repeat(levels);
    for (const amount of ['1', '1e0']) {
      assert.equal((await post(`{"amount":${amount},"x":${object(99)}}`)).status, 201);
      const refused = await post(`{"amount":${amount},"x":${object(100)}}`);
      assert.deepEqual(Object.keys(refused.json.error.details), ['body']);
    }
  });

  test('a body nested 30,000 deep is refused, and the service goes on.', async () => {
    const list = '['.repeat(DEEP) + ']'.repeat(DEEP);
    const object = '{"a":'.repeat(DEEP / 3) + 1 + '}'.repeat(DEEP / 3);
    for (const deep of [list, object]) {
      for (const name of ['metadata', 'customer', 'description', 'amount', 'x']) {
        for (const number of ['1', '1e0']) {
          const { status } = await post(`{"expires_in":${number},"${name}":${deep}}`);
          assert.equal(status, 422, name);
        }
      }
      assert.equal((await post(deep)).status, 422);
    }
    assertError(await post('{"amount":1,"metadata":{"a":'.padEnd(DEEP, '[')), 400, 'invalid_json', 'open');
    assert.equal((await service.request('/health')).status, 200);
  });

  test('the content type must be application/json in UTF-8.', async () => {
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/json ; charset=utf-8',
    ])
      assert.equal((await post('{"amount":1}', { 'content-type': type })).status, 201, type);
    for (const type of [
      '',
      'text/plain',
      'text/json',
      'application/json; charset=utf-16',
      'application/json; charset=iso-8859-1',
      'application/jsonx',
      'application/problem+json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      ';',
      'application/json, text/plain',
    ])
      assertError(await post('{"amount":1}', { 'content-type': type }), 415, 'unsupported_media_type', type);
  });

  test('a request without a content type, or compressed, is unsupported_media_type.', async () => {
    const bare = await fetch(`${service.origin}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: new Uint8Array([123, 125]),
    });
    assert.equal(bare.status, 415);
    assertError(
      await post('{"amount":1}', { 'content-encoding': 'gzip' }),
      415,
      'unsupported_media_type',
      'gzip',
    );
  });
});
