// Approving and rejecting under /admin: on which terms, once, and told well where it is refused.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { addPerson, entryCount, type Person, post, sentForReview } from '../../support/admin.ts';
import { sharedHarness } from '../../support/harness.ts';

const FOUR_EYES = 'review:\n  four_eyes_above:\n    EUR: 1000\n';

describe('decisions at /admin', () => {
  const service = sharedHarness('sqlite', { configuration: FOUR_EYES });
  let ana: Person;
  let ben: Person;

  before(async () => {
    ana = await addPerson(service, 'reviewer', 'Ana Alvarez');
    ben = await addPerson(service, 'administrator', 'Ben Brown');
  });

  const decide = (person: Person, id: string, act: 'approve' | 'reject', body: unknown = {}, options = {}) =>
    post(service, person, `/admin/payments/${id}/${act}`, body, options);
  const statusOf = async (id: string) => (await service.request(`/v1/payments/${id}`)).json.data.status;

  /** Holds that a call is refused and that it changed nothing. */
  async function refused(calling: () => ReturnType<typeof decide>, status: number, code: string) {
    const entries = await entryCount(service);
    const answer = await calling();
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.json.error.code, code);
    assert.equal(await entryCount(service), entries, 'nothing was written');
    return answer.json.error;
  }

  test('approving takes an empty object, and answers with the payment.', async () => {
    const id = await sentForReview(service);
    const answer = await decide(ana, id, 'approve');
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.data.id, id);
    assert.equal(answer.json.data.status, 'approved');
    assert.equal(answer.json.data.review[0].by.name, 'Ana Alvarez');
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const last = answer.json.data.timeline.at(-1);
    assert.equal(last.request_id, answer.headers.get('x-request-id'));
    assert.equal(await statusOf(id), 'approved');
  });

  test('rejecting needs a reason, and keeps note and message apart.', async () => {
    const id = await sentForReview(service);
    const error = await refused(() => decide(ana, id, 'reject'), 422, 'validation_failed');
    assert.deepEqual(Object.keys(error.details), ['reason']);
    const body = {
      reason: 'duplicate',
      note: 'Second of two.',
      message: 'You paid this before.\nNothing is taken.',
    };
    const answer = await decide(ana, id, 'reject', body);
    assert.equal(answer.status, 200, answer.text);
    const { reason, note, message } = answer.json.data.review[0];
    assert.deepEqual({ reason, note, message }, body);
    assert.equal(await statusOf(id), 'rejected');
  });

  for (const [reason, told] of [
    ['transfer_not_received', 'transfer_not_received'],
    ['details_do_not_match', 'details_do_not_match'],
    ['duplicate', 'duplicate'],
    ['other', 'other'],
    ['suspected_fraud', 'other'],
  ])
    test(`a merchant reads of a rejection for ${reason} why, when and what its customer is told.`, async () => {
      const id = await sentForReview(service);
      const body = { reason, note: 'For us alone.', message: 'Ask the shop.' };
      const answer = await decide(ana, id, 'reject', body);
      assert.equal(answer.status, 200, answer.text);
      const { text, json } = await service.request(`/v1/payments/${id}`);
      assert.equal(json.data.status_reason, told);
      assert.equal(json.data.review_message, 'Ask the shop.');
      assert.equal(json.data.decided_at, json.data.updated_at);
      assert.equal(json.data.submitted_at, json.data.payment_details.submitted_at);
      assert.ok(!text.includes('For us alone.') && !text.includes('fraud'), text);
      assert.deepEqual((await service.request('/v1/payments?limit=1')).json.data, [json.data]);
    });

  test('a merchant reads of an approval when it was, and no reason.', async () => {
    const id = await sentForReview(service);
    await decide(ana, id, 'approve', { note: 'For us alone.' });
    const { data } = (await service.request(`/v1/payments/${id}`)).json;
    assert.equal(data.decided_at, data.updated_at);
    assert.deepEqual([data.status_reason, data.review_message], [null, null]);
  });

  test('every fault of a body is told at once, and none of what was sent.', async () => {
    const id = await sentForReview(service);
    const bad = {
      reason: 'dislike',
      note: 'x'.repeat(2001),
      message: `4242 4242 4242 4242`,
      version: 1.5,
      card: { number: '4242424242424242' },
    };
    const rejection = await refused(() => decide(ana, id, 'reject', bad), 422, 'validation_failed');
    assert.deepEqual(Object.keys(rejection.details).sort(), ['card', 'message', 'note', 'reason', 'version']);
    assert.ok(!JSON.stringify(rejection).includes('4242'));
    const approval = await refused(
      () => decide(ana, id, 'approve', { note: 1, bank_reference: 'x'.repeat(141), version: '2' }),
      422,
      'validation_failed',
    );
    assert.deepEqual(Object.keys(approval.details).sort(), ['bank_reference', 'note', 'version']);
    for (const version of [0, -1, 2.5, '2', true, [], 1e300, null]) {
      if (version === null) continue;
      const error = await refused(() => decide(ana, id, 'approve', { version }), 422, 'validation_failed');
      assert.deepEqual(Object.keys(error.details), ['version'], String(version));
    }
    await refused(
      () => decide(ana, id, 'approve', '{"version":3.0000000000000000001}'),
      422,
      'validation_failed',
    );
    for (const body of ['[]', 'null', '"x"', '1']) {
      const error = await refused(() => decide(ana, id, 'approve', body), 422, 'validation_failed');
      assert.deepEqual(Object.keys(error.details), ['body']);
    }
  });

  test('a decision on another version than the one that was seen is refused.', async () => {
    const id = await sentForReview(service);
    const { version } = (await service.request(`/admin/payments/${id}`, { key: ana.token })).json.data;
    await refused(() => decide(ana, id, 'approve', { version: version - 1 }), 409, 'conflict');
    await refused(
      () => decide(ana, id, 'reject', { reason: 'other', version: version + 1 }),
      409,
      'conflict',
    );
    assert.equal((await decide(ana, id, 'approve', { version })).status, 200);
  });

  test('above the limit two administrators approve; one may still reject.', async () => {
    const large = { amount: 1000.01, currency: 'EUR' };
    const id = await sentForReview(service, large);
    const first = await decide(ana, id, 'approve', { note: 'First.' });
    assert.equal(first.status, 202, first.text);
    assert.equal(first.json.data.status, 'requires_review');
    assert.equal(first.json.data.awaiting_second, true);
    await refused(() => decide(ana, id, 'approve'), 403, 'forbidden');
    assert.equal(await statusOf(id), 'requires_review');
    const second = await decide(ben, id, 'approve');
    assert.equal(second.status, 200, second.text);
    assert.equal(second.json.data.status, 'approved');
    assert.equal(second.json.data.awaiting_second, false);
    assert.deepEqual(
      second.json.data.review.map(({ by }: { by: { name: string } }) => by.name),
      ['Ana Alvarez', 'Ben Brown'],
    );

    const refusedOne = await sentForReview(service, large);
    assert.equal((await decide(ana, refusedOne, 'approve')).status, 202);
    assert.equal((await decide(ana, refusedOne, 'reject', { reason: 'suspected_fraud' })).status, 200);
    assert.equal(await statusOf(refusedOne), 'rejected');

    for (const fields of [
      { amount: 1000, currency: 'EUR' },
      { amount: 5000, currency: 'USD' },
    ])
      assert.equal((await decide(ana, await sentForReview(service, fields), 'approve')).status, 200);
  });

  test('the history of all this verifies.', async () => {
    await service.verify();
  });
});
