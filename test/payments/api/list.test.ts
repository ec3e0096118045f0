// The list: newest first, by cursor, filtered, and strict about its parameters.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createIn, KEY, OTHER_KEY, sharedHarness } from '../../support/harness.ts';
import { ENGINES } from '../../support/stores.ts';

const MANY = 250;

for (const engine of ENGINES) {
  describe(`listing payments on ${engine}`, () => {
    const service = sharedHarness(engine);
    /** The ids of 250 payments of one moment, newest first. */
    let ids: string[];

    before(async () => {
      const fields = { merchant_reference: 'many' };
      ids = (await createIn(service.service.journal, service, MANY, KEY, fields)).sort().reverse();
    });

    const list = (query = '', key = KEY) => service.request(`/v1/payments${query}`, { key });
    const idsOf = (answer: { json: { data: { id: string }[] } }) => answer.json.data.map(({ id }) => id);

    async function walk(query: string, each: () => Promise<unknown> = async () => {}): Promise<string[][]> {
      const pages: string[][] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const answer = await list(`?${query}${cursor && `&cursor=${cursor}`}`);
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.json.has_more, answer.json.next_cursor !== null);
        pages.push(idsOf(answer));
        cursor = answer.json.next_cursor;
        await each();
      }
      return pages;
    }

    test('250 payments of one moment are walked through by cursor, each once, newest first.', async () => {
      for (const limit of [100, 50, 7]) {
        const pages = await walk(`limit=${limit}&merchant_reference=many`);
        assert.deepEqual(pages.flat(), ids);
        assert.equal(pages.length, Math.ceil(MANY / limit));
      }
    });

    test('payments made during the walk do not disturb it.', async () => {
      const pages = await walk('limit=60', () => service.create());
      assert.deepEqual(pages.flat(), ids);
    });

    test('the newest comes first, and a page is 20 unless told otherwise.', async () => {
      service.clock.advance(5);
      const newest = await service.create();
      const answer = await list();
      assert.equal(idsOf(answer)[0], newest.id);
      assert.equal(idsOf(answer).length, 20);
      assert.equal(idsOf(await list('?limit=100')).length, 100);
      assert.equal(idsOf(await list('?limit=1')).length, 1);
    });

    test('a list shows payments as reading them does.', async () => {
      const payment = await service.create({
        merchant_reference: 'whole',
        metadata: { a: [1] },
        customer: { name: 'A' },
      });
      assert.deepEqual((await list('?merchant_reference=whole')).json, {
        data: [payment],
        has_more: false,
        next_cursor: null,
      });
    });

    test('limit is plain digits from 1 to 100.', async () => {
      for (const limit of [
        '0',
        '101',
        '-1',
        '+5',
        '1.0',
        '1e1',
        ' 5',
        '5 ',
        '0x5',
        'ten',
        '９',
        '99999999999999999999',
        'null',
      ]) {
        const answer = await list(`?limit=${encodeURIComponent(limit)}`);
        assert.equal(answer.status, 422, limit);
        assert.deepEqual(Object.keys(answer.json.error.details), ['limit']);
      }
    });

    test('merchant_reference is matched exactly.', async () => {
      for (const reference of ['Ref-1', 'ref-1', 'Ref-1 ', 'Ref-%', 'R\'e"f--;', 'Ref-Ω&=+'])
        await service.create({ merchant_reference: reference });
      for (const reference of ['Ref-1', 'ref-1', 'Ref-1 ', 'Ref-%', 'R\'e"f--;', 'Ref-Ω&=+']) {
        const { data } = (await list(`?merchant_reference=${encodeURIComponent(reference)}`)).json;
        assert.deepEqual(
          data.map((one: { merchant_reference: string }) => one.merchant_reference),
          [reference],
        );
      }
      assert.equal((await list('?merchant_reference=Ref-_')).json.data.length, 0);
    });

    test('status picks payments of one status, also walked by cursor.', async () => {
      for (const id of ids.slice(0, 5))
        await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      assert.deepEqual(
        (await walk('status=cancelled&limit=2&merchant_reference=many')).flat(),
        ids.slice(0, 5),
      );
      assert.deepEqual((await walk('status=pending&limit=100&merchant_reference=many')).flat(), ids.slice(5));
      assert.deepEqual((await walk('status=approved')).flat(), []);
    });

    test('a status there is not, expired included, is refused.', async () => {
      for (const status of ['expired', 'Pending', 'paid'])
        assert.deepEqual(
          Object.keys((await list(`?status=${status}`)).json.error.details),
          ['status'],
          status,
        );
    });

    test('a cursor that was not handed out is refused.', async () => {
      const { next_cursor } = (await list('?limit=1')).json;
      const other = Buffer.from(`mer_${'0'.repeat(36)}`).toString('base64url');
      for (const cursor of [
        'x',
        `${next_cursor}=`,
        `${next_cursor}A`,
        next_cursor.slice(0, -1),
        ` ${next_cursor}`,
        ids[0]!,
        other,
        `${next_cursor.slice(0, -2)}__`,
        'A'.repeat(5000),
      ]) {
        const answer = await list(`?cursor=${encodeURIComponent(cursor)}`);
        assert.equal(answer.status, 422, cursor);
        assert.deepEqual(Object.keys(answer.json.error.details), ['cursor']);
      }
    });

    test("another merchant's cursor shows nothing of theirs.", async () => {
      const { next_cursor } = (await list('?limit=1')).json;
      assert.deepEqual((await list(`?cursor=${next_cursor}`, OTHER_KEY)).json.data, []);
    });

    test('a parameter given twice is refused, all faults at once.', async () => {
      const answer = await list(
        '?limit=1&limit=1&cursor=a&cursor=b&status=x&merchant_reference=a&merchant_reference=b',
      );
      assert.equal(answer.status, 422);
      assert.deepEqual(Object.keys(answer.json.error.details).sort(), [
        'cursor',
        'limit',
        'merchant_reference',
        'status',
      ]);
    });

    test('unknown parameters are ignored.', async () => {
      assert.equal((await list('?offset=3&page=2&constructor=1&__proto__=1&limit[]=x&a&=&&')).status, 200);
    });
  });
}
