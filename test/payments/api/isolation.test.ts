// Merchants and modes apart: what belongs to another is as unknown as what is not there.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Answer,
  KEY,
  LIVE_KEY,
  OTHER_KEY,
  sharedHarness,
  TEST_KEY_IN_PRODUCTION,
} from '../../support/harness.ts';

/** An answer whole, but for what differs between any two. */
function comparable({ status, headers, text }: Answer): object {
  const { date, 'x-request-id': id, ...rest } = Object.fromEntries(headers);
  assert.ok(date && id);
  return { status, text, headers: rest };
}

describe(`another merchant's payments`, () => {
  const service = sharedHarness('sqlite');

  test('foreign, unknown and malformed payment ids answer byte-identically.', async () => {
    const { id } = await service.create({}, { key: OTHER_KEY });
    const unknown = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');
    const malformed = [
      'pay_',
      'x',
      '0',
      id.toUpperCase(),
      `${id}0`,
      id.slice(0, -1),
      `${id}%00`,
      '%F0%9F%92%A9',
      "'--",
      '..%2f',
      '%20',
    ];
    for (const [method, ending] of [
      ['GET', ''],
      ['HEAD', ''],
      ['POST', '/cancel'],
    ] as const) {
      const answers = new Set<string>();
      for (const one of [id, unknown, ...malformed, `pay_${'i'.repeat(36)}`, 'x'.repeat(4000)]) {
        const answer = await service.request(`/v1/payments/${one}${ending}`, { method });
        assert.equal(answer.status, 404, `${method} ${one}`);
        answers.add(JSON.stringify(comparable(answer)));
      }
      assert.equal(answers.size, 1, [...answers].join('\n'));
    }
  });

  test("cancelling another's payment leaves it as it was.", async () => {
    const { id } = await service.create({}, { key: OTHER_KEY });
    assert.equal((await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' })).status, 404);
    assert.equal(
      (await service.request(`/v1/payments/${id}`, { key: OTHER_KEY })).json.data.status,
      'pending',
    );
  });

  test("lists, filters included, never show another's payments.", async () => {
    const { id } = await service.create({ merchant_reference: 'theirs' }, { key: OTHER_KEY });
    for (const query of [
      '',
      '?merchant_reference=theirs',
      '?status=pending&limit=100',
      '?status=cancelled&limit=100',
    ]) {
      const { data } = (await service.request(`/v1/payments${query}`, { key: KEY })).json;
      assert.ok(
        data.every(
          (payment: { id: string; merchant_name: string }) =>
            payment.id !== id && payment.merchant_name === 'Development Shop',
        ),
      );
    }
  });
});

describe('test mode and live mode', () => {
  const service = sharedHarness('sqlite', { environment: 'production' });

  for (const [own, other] of [
    [LIVE_KEY, TEST_KEY_IN_PRODUCTION],
    [TEST_KEY_IN_PRODUCTION, LIVE_KEY],
  ] as const) {
    const mode = own.slice(4, 8);
    test(`a ${mode} key sees and moves ${mode} payments alone, of one and the same merchant.`, async () => {
      const { id } = await service.create({ merchant_reference: mode }, { key: own });
      assert.equal((await service.request(`/v1/payments/${id}`, { key: own })).status, 200);
      assert.equal((await service.request(`/v1/payments/${id}`, { key: other })).status, 404);
      assert.equal(
        (await service.request(`/v1/payments/${id}/cancel`, { key: other, method: 'POST' })).status,
        404,
      );
      const listed = async (key: string) =>
        (await service.request(`/v1/payments?merchant_reference=${mode}`, { key })).json.data.length;
      assert.deepEqual([await listed(own), await listed(other)], [1, 0]);
      assert.equal(
        (await service.request(`/v1/payments/${id}/cancel`, { key: own, method: 'POST' })).status,
        200,
      );
    });
  }
});
