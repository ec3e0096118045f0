// The OpenAPI document is true of registration: every real answer validates against what it says of that status.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { anotherShop, CORNER_SHOP } from '../../support/applicant.ts';
import { type RequestOptions, sharedHarness, startHarness } from '../../support/harness.ts';
import { DocumentedService } from '../../support/openapi.ts';
import { ENGINES } from '../../support/stores.ts';

for (const engine of ENGINES)
  describe(`registration against openapi.json on ${engine}`, () => {
    const harness = sharedHarness(engine);
    let documented: DocumentedService;
    before(async () => {
      documented = await DocumentedService.of(harness);
    });
    const post = (options: RequestOptions) => documented.hold('POST', '/register', { key: null, ...options });

    test('what the document takes of a request the service takes, and what it refuses is refused.', async () => {
      const request = documented.ajv.getSchema('https://document.example/#/components/schemas/Registration')!;
      for (const body of [anotherShop(), { ...anotherShop(), website: null, invite: null, more: 1 }]) {
        assert.ok(request(body), JSON.stringify(request.errors));
        assert.equal((await post({ body })).status, 201);
      }
      for (const fields of [
        { business_name: undefined },
        { business_name: 'x'.repeat(121) },
        { email: null },
        { website: 1 },
        { invite: [] },
      ]) {
        const body = JSON.parse(JSON.stringify({ ...CORNER_SHOP, ...fields }));
        assert.equal(request(body), false, JSON.stringify(body));
        assert.equal((await post({ body })).status, 422);
      }
    });

    test('every status that is documented was seen, but for one that takes ten seconds.', async () => {
      await documented.holdSyntaxErrors('POST', '/register');
      await post({ body: '{' });
      await post({ body: '{}', headers: { 'content-type': 'text/plain' } });
      await post({ body: { x: 'x'.repeat(64 * 1024) } });
      const { journal } = harness.service;
      const rename = (from: string, to: string) =>
        journal.commit((transaction) => transaction.query(`alter table ${from} rename to ${to}`));
      await rename('merchants', 'gone');
      assert.equal((await post({ body: anotherShop() })).status, 500);
      await rename('gone', 'merchants');
      for (let i = 0; i < 3; i++) assert.equal((await post({ body: anotherShop() })).status, 201);
      assert.equal((await post({ body: anotherShop() })).status, 429);
      const closed = await startHarness(engine, { configuration: 'registration: {mode: closed}\n' });
      const held = new DocumentedService(closed, documented.document);
      assert.equal((await held.hold('POST', '/register', { key: null, body: CORNER_SHOP })).status, 403);
      await closed.close();
      for (const one of held.seen) documented.seen.add(one);
      harness.clock.advance(3_600_000);
      await journal.close();
      assert.equal((await post({ body: anotherShop() })).status, 503);
      assert.deepEqual(
        documented.unseen('/register').filter((one) => !/ 408$/.test(one)),
        [],
      );
    });
  });
