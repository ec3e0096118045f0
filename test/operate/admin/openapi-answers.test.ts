// What the OpenAPI document says of payments and the history under /admin is true: every answer validates, and every status it names is seen.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { newSecret } from '../../../src/lib/secrets.ts';
import { addPerson, bare, claimAs, type Person, sentForReview } from '../../support/admin.ts';
import { sharedHarness } from '../../support/harness.ts';
import { DocumentedService } from '../../support/openapi.ts';
import { ENGINES } from '../../support/stores.ts';

const CONFIGURATION = 'review:\n  four_eyes_above:\n    EUR: 1000\nrate_limits: {enabled: true}\n';
/** Those of webhooks are in webhooks.test.ts. */
const PATHS = ['/admin/payments', '/admin/audit'];
const ONE = '/admin/payments/{payment_id}';
const AUDIT = '/admin/audit';
const MONEY = { amount: 49.9, received_on: '2024-11-20' };

for (const engine of ENGINES) {
  describe(`answers of /admin against openapi.json on ${engine}`, () => {
    const service = sharedHarness(engine, { configuration: CONFIGURATION });
    let documented: DocumentedService;
    let ana: Person;
    let ben: Person;
    let otto: Person;

    before(async () => {
      ana = await addPerson(service, 'reviewer', 'Ana');
      ben = await addPerson(service, 'administrator', 'Ben');
      otto = await addPerson(service, 'auditor', 'Otto');
      documented = await DocumentedService.of(service);
    });

    const get = (template: string, options = {}) =>
      documented.hold('GET', template, { key: otto.token, ...options });
    const decide = (act: string, id: string | undefined, body: unknown = {}, options = {}) =>
      documented.hold('POST', `${ONE}/${act}`, { key: ana.token, body, ...(id && { id }), ...options });

    const readyFor = async (act: string): Promise<string> =>
      act === 'record' ? (await service.create()).id : sentForReview(service);

    test('what is read is as documented.', async () => {
      await get(`${AUDIT}/checkpoint`); // not yet
      const ids = [];
      for (let i = 0; i < 3; i++) ids.push(await sentForReview(service, { amount: 2000, currency: 'EUR' }));
      await claimAs(service, ben, ids[0]!);
      assert.equal((await decide('approve', ids[1], { note: 'a', bank_reference: 'b' })).status, 202);
      const rejection = { reason: 'other', note: 'a', message: 'b' };
      assert.equal((await decide('reject', ids[2], rejection)).status, 200);
      const { id: pending } = await service.create();
      assert.equal((await decide('record', pending, MONEY)).status, 200);
      ids.push(pending);
      for (const query of [
        '',
        '?limit=1',
        '?status=requires_review&limit=1',
        '?livemode=true',
        '?merchant=x',
      ])
        await get('/admin/payments', { query });
      for (const id of [...ids, undefined]) await get(ONE, { id });
      await get(`${AUDIT}/entries`, { query: '?after=2&limit=1000' });
      await get(`${AUDIT}/entries/{number}`, { id: '1' });
      await get(`${AUDIT}/entries/{number}`);
      await get(`${AUDIT}/seal`);
      await service.stop();
      await service.start();
      assert.equal((await get(`${AUDIT}/checkpoint`)).status, 200);
    });

    test('what the document refuses in a decision, the service refuses as well, and the other way round.', async () => {
      const id = await sentForReview(service);
      for (const [act, name, bodies, whole] of [
        [
          'approve',
          'Approval',
          [
            { note: 1 },
            { version: 0 },
            { version: '1' },
            { bank_reference: 'x'.repeat(141) },
            { verison: 1 },
          ],
          { note: null, bank_reference: null, version: null },
        ],
        [
          'reject',
          'Rejection',
          [{}, { reason: null }, { reason: 'x' }, { reason: 'other', message: 'x'.repeat(501) }],
          { note: null, message: null, version: null, reason: 'other' },
        ],
        [
          'record',
          'ReceivedMoney',
          [
            { received_on: '2024-11-20' },
            { amount: 1 },
            { ...MONEY, amount: 0 },
            { ...MONEY, amount: '1' },
            { ...MONEY, received_on: 20261120 },
            { ...MONEY, currency: 'EUR' },
          ],
          { ...MONEY, note: null, bank_reference: null, version: null },
        ],
      ] as const) {
        const validate = documented.ajv.getSchema(`https://document.example/#/components/schemas/${name}`)!;
        for (const body of bodies) {
          assert.equal(validate(body), false, JSON.stringify(body));
          assert.equal((await decide(act, id, body)).status, 422, JSON.stringify(body));
        }
        assert.ok(validate(whole), JSON.stringify(validate.errors));
        assert.equal((await decide(act, await readyFor(act), whole)).status, 200);
      }
    });

    test('what decisions are refused with is as documented.', async () => {
      for (const act of ['approve', 'reject', 'record'] as const) {
        const id = await readyFor(act);
        await decide(act, id, {}, { key: otto.token });
        await decide(act, id, '{');
        await decide(act, id, '{}', { headers: { 'content-type': 'text/plain' } });
        await decide(act, id, `"${'x'.repeat(64 * 1024)}"`);
        await decide(act, undefined, bare(act));
        assert.equal((await decide(act, id, { ...bare(act), version: 99 })).json.error.code, 'conflict');
        assert.equal((await decide(act, id, bare(act))).status, 200);
        assert.equal((await decide(act, id, bare(act))).json.error.code, 'invalid_status');
      }
      for (const path of ['/admin/payments', `${AUDIT}/entries`]) await get(path, { query: '?limit=0' });
    });

    test('what every endpoint is refused with is as documented.', async () => {
      const every = documented.operations(...PATHS);
      assert.equal(every.length, 9);
      for (const { path, method } of every) {
        await documented.holdSyntaxErrors(method, path);
        assert.equal((await documented.hold(method, path, { key: null })).status, 401);
      }
      for (let i = 0; i < 21; i++) await service.request('/admin/payments', { key: newSecret('cfa_') });
      for (const { path, method } of every) {
        const answer = await documented.hold(method, path, { key: newSecret('cfa_') });
        assert.equal(answer.status, 429);
      }
    });

    test('every status that is documented was seen, but for those that cannot be provoked.', async () => {
      const { journal } = service.service;
      const rename = (from: string, to: string) =>
        journal.commit((transaction) => transaction.query(`alter table ${from} rename to ${to}`));
      await rename('administrator_tokens', 'gone');
      for (const { path, method } of documented.operations(...PATHS))
        await documented.hold(method, path, { key: ana.token });
      await rename('gone', 'administrator_tokens');
      const id = await sentForReview(service);
      await journal.close();
      for (const act of ['approve', 'reject', 'record'] as const) await decide(act, id, bare(act));
      // A request that is too slow takes ten seconds (test/web/errors.test.ts); reading needs no store that takes writes.
      assert.deepEqual(
        documented.unseen(...PATHS).filter((one) => !/ 408$|^GET .* 503$/.test(one)),
        [],
      );
    });
  });
}
