// Reading payments under /admin: the queue in its order, all others newest first, and one with everything about it.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { addPerson, claimAs, type Person, post, sentForReview } from '../../support/admin.ts';
import { createIn, OTHER_KEY, sharedHarness } from '../../support/harness.ts';
import { erase, referenceOf, referencesOf } from '../../support/payments.ts';
import { ENGINES } from '../../support/stores.ts';

for (const engine of ENGINES) {
  describe(`payments at /admin on ${engine}`, () => {
    const service = sharedHarness(engine);
    let auditor: Person;
    let reviewer: Person;
    /** In the order they were made. The second waits longest, since the first was sent last. */
    let waiting: string[];
    let pending: string;
    let other: string;

    before(async () => {
      auditor = await addPerson(service, 'auditor', 'Otto Auditor');
      reviewer = await addPerson(service, 'reviewer', 'Rita Reviewer');
      pending = (await service.create({ merchant_reference: 'pending' })).id;
      service.clock.advance(1000);
      waiting = [];
      for (let i = 0; i < 5; i++) {
        waiting.push(await sentForReview(service, { amount: 10 + i }));
        service.clock.advance(1000);
      }
      other = await sentForReview(service, {}, { key: OTHER_KEY });
    });

    const get = (path: string, key = auditor.token) => service.request(path, { key });
    const list = (query = '') => get(`/admin/payments${query}`);
    const ids = (answer: { json: { data: { id: string }[] } }) => answer.json.data.map(({ id }) => id);

    /** All pages of a list, `limit` at a time. */
    async function pages(query: string, limit: number): Promise<string[]> {
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const answer = await list(`?${query}&limit=${limit}${cursor && `&cursor=${cursor}`}`);
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.json.has_more, answer.json.next_cursor !== null);
        assert.ok(answer.json.data.length <= limit);
        found.push(...ids(answer));
        cursor = answer.json.next_cursor;
      }
      return found;
    }

    test('the list has the payments of all merchants, newest first.', async () => {
      const newestFirst = [other, ...waiting.toReversed(), pending];
      assert.deepEqual(ids(await list()), newestFirst);
      assert.deepEqual(await pages('', 3), newestFirst);
      const [first] = (await list()).json.data;
      assert.equal(first.merchant_id, 'mer_other');
      assert.equal(first.version, 2);
      assert.equal(first.awaiting_second, false);
      assert.equal(first.claim, null);
      assert.equal(first.decided_at, null);
      assert.match(first.submitted_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
      assert.equal(first.submission, undefined);
    });

    test('what waits for review comes in the order of the queue: the oldest first.', async () => {
      assert.deepEqual(ids(await list('?status=requires_review')), [...waiting, other]);
      for (const limit of [1, 2, 4, 6, 100])
        assert.deepEqual(await pages('status=requires_review', limit), [...waiting, other]);
    });

    test('it narrows by status, merchant and mode.', async () => {
      assert.deepEqual(ids(await list('?status=pending')), [pending]);
      assert.deepEqual(ids(await list('?status=approved')), []);
      assert.deepEqual(ids(await list('?merchant=mer_other')), [other]);
      assert.deepEqual(ids(await list('?merchant=mer_nobody')), []);
      assert.deepEqual(ids(await list('?status=requires_review&merchant=mer_development')), waiting);
      assert.deepEqual(ids(await list('?livemode=true')), []);
      assert.deepEqual(ids(await list('?livemode=true&status=requires_review')), []);
      assert.equal(ids(await list('?livemode=false')).length, 7);
      assert.deepEqual(ids(await list('?status=requires_review&livemode=false')), [...waiting, other]);
    });

    test('a reference finds the payment: its own, and that of its transfer in any form, alone or within a line.', async () => {
      const found = async (text: string, more = '') =>
        ids(await list(`?reference=${encodeURIComponent(text)}${more}`));
      const fours = (text: string) => text.replace(/.{4}(?=.)/g, '$& ');
      const fives = (text: string) => text.replace(/^..|.{5}(?=.)/g, '$& ');
      for (const id of [waiting[1]!, pending]) {
        const { whole: reference, short, qr } = await referencesOf(service, id);
        for (const text of [
          reference,
          short,
          fours(reference).toLowerCase(),
          `EREF+${reference}`,
          `SVWZ+Invoice 7, ${fours(reference).toLowerCase()} thank you`,
          qr,
          fives(qr),
          `Gutschrift QRR ${fives(qr)} Erika Muster`,
          `FPI CARTER J ${short} 20NOV`,
          `SVWZ+Rechnung 7 ${reference.slice(0, 14).toLowerCase()} ABWA+Cafe`,
          fours(reference.slice(0, 15)),
          `QRR ${fives(qr).slice(0, 25)}`,
          qr.slice(0, 26),
        ])
          assert.deepEqual(await found(text), [id], text);
        // Cut so short, it may be that of others of nearly the same moment too.
        for (const text of [qr.slice(0, 16), `EREF+${reference.slice(0, 12)}`])
          assert.ok((await found(text)).includes(id), text);
        assert.deepEqual(await found(qr.slice(0, 15)), []);
      }
      const reference = await referenceOf(service, waiting[1]!);
      assert.deepEqual(await found(reference, '&status=requires_review'), [waiting[1]]);
      for (const other of ['&status=approved', '&merchant=mer_other'])
        assert.deepEqual(await found(reference, other), [], other);
      assert.deepEqual(await found('pending'), [pending]);
      for (const text of ['RF18539007547034', 'ORDER-1', 'nothing'])
        assert.deepEqual(await found(text), [], text);
    });

    test('bad parameters are refused, all at once, and so are those it does not know.', async () => {
      const bad = '?status=done&merchant=%00&livemode=1&limit=0&cursor=x&stauts=pending';
      const answer = await list(bad);
      assert.equal(answer.status, 422);
      const names = ['status', 'merchant', 'livemode', 'limit', 'cursor', 'stauts'];
      assert.deepEqual(Object.keys(answer.json.error.details).sort(), names.sort());
      const twice = await list('?status=pending&status=pending&limit=1&limit=1');
      assert.deepEqual(Object.keys(twice.json.error.details).sort(), ['limit', 'status']);
      for (const limit of ['101', '-1', '1.0', '1e1', ' 1', '0x1'])
        assert.equal((await list(`?limit=${limit}`)).status, 422, limit);
    });

    test('a cursor belongs to the order it came from.', async () => {
      const newest = (await list('?limit=1')).json.next_cursor;
      const queue = (await list('?limit=1&status=requires_review')).json.next_cursor;
      assert.equal((await list(`?cursor=${newest}&status=requires_review`)).status, 422);
      assert.equal((await list(`?cursor=${queue}`)).status, 422);
      assert.equal((await list(`?cursor=${newest}A`)).status, 422);
    });

    test('one payment comes with what was sent, what was written, and its history.', async () => {
      const id = waiting[0]!;
      await claimAs(service, reviewer, id);
      const { data } = (await get(`/admin/payments/${id}`)).json;
      assert.deepEqual(data.claim.by, { id: reviewer.id, name: 'Rita Reviewer' });
      assert.equal(data.submission.payer_email, 'ada@example.org');
      assert.equal(data.payment_details.payer_email, 'a…@example.org');
      assert.equal(data.merchant_id, 'mer_development');
      assert.deepEqual(data.review, []);
      const body = { note: 'Seen on the statement.', bank_reference: 'MT940-1' };
      assert.equal((await post(service, reviewer, `/admin/payments/${id}/approve`, body)).status, 200);
      const decided = (await get(`/admin/payments/${id}`)).json.data;
      assert.equal(decided.status, 'approved');
      assert.equal(decided.version, data.version + 1);
      assert.equal(decided.claim, null);
      const { at, ...act } = decided.review[0];
      assert.equal(at, decided.decided_at);
      assert.deepEqual(act, {
        act: 'approve',
        by: { id: reviewer.id, name: 'Rita Reviewer' },
        entry_version: decided.version,
        note: 'Seen on the statement.',
        bank_reference: 'MT940-1',
        amount: null,
        currency: null,
        received_on: null,
        line: null,
        reason: null,
        message: null,
      });
      const actions = decided.timeline.map(({ action }: { action: string }) => action);
      assert.equal(actions[0], 'payment.created');
      assert.equal(actions[1], 'payment.requires_review');
      assert.equal(actions.at(-1), 'payment.approved');
      const last = decided.timeline.at(-1);
      assert.ok(last.sentence.includes('Rita Reviewer'), last.sentence);
      assert.equal(last.actor, `administrator:${reviewer.id}`);
      assert.ok(last.seal.number > 0 && last.facts.row);
      const shown = (await service.request(`/v1/payments/${id}`)).text;
      assert.ok(!shown.includes('statement') && !shown.includes('MT940') && !shown.includes(reviewer.id));
    });

    test('of an erased payment the person is gone, and what happened is there.', async () => {
      const id = waiting[1]!;
      const body = { reason: 'other', note: 'Ada rang.', message: 'Sorry, Ada.' };
      assert.equal((await post(service, reviewer, `/admin/payments/${id}/reject`, body)).status, 200);
      await erase(service, id);
      const answer = await get(`/admin/payments/${id}`);
      assert.equal(answer.status, 200);
      assert.equal(answer.json.data.submission, null);
      assert.deepEqual(answer.json.data.review, []);
      assert.ok(!answer.text.includes('Ada'));
      const actions = answer.json.data.timeline.map(({ action }: { action: string }) => action);
      assert.ok(actions.includes('payment.rejected'));
    });

    test('of payments of one moment each is found by its own reference alone.', async () => {
      for (const id of await createIn(service.service.journal, service, 8))
        assert.deepEqual(ids(await list(`?reference=${await referenceOf(service, id)}`)), [id]);
    });

    test('an id that is unknown, malformed or of something else is not found, in the same bytes.', async () => {
      const texts = new Set<string>();
      for (const id of [
        `pay_${'0'.repeat(36)}`,
        'x',
        reviewer.id,
        `${pending}x`,
        pending.toUpperCase(),
        "'",
        '%00',
      ]) {
        for (const path of [`/admin/payments/${id}`]) {
          const answer = await get(path);
          assert.equal(answer.status, 404, id);
          texts.add(answer.text);
        }
        for (const act of ['approve', 'reject']) {
          const body = act === 'reject' ? { reason: 'other' } : {};
          const answer = await post(service, reviewer, `/admin/payments/${id}/${act}`, body);
          assert.equal(answer.status, 404, id);
          texts.add(answer.text);
        }
      }
      assert.deepEqual([...texts], ['{"error":{"code":"not_found","message":"There is no such payment."}}']);
    });
  });
}
