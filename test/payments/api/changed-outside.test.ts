// A payment that somebody changed in the store itself: no later change may take its edited row into the history.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { acknowledgeAll } from '../../support/acknowledge.ts';
import { sharedHarness } from '../../support/harness.ts';
import { editOutside } from '../../support/outside.ts';
import { askForLink, erase, submit, sweep } from '../../support/payments.ts';
import { ENGINES } from '../../support/stores.ts';

const CHANGED = { code: 'conflict', message: /changed outside the service/ };

for (const engine of ENGINES)
  describe(`a payment that was changed outside the service, on ${engine}`, () => {
    const service = sharedHarness(engine);
    const edited = async (fields = {}) => {
      const { id } = await service.create(fields);
      await editOutside(
        service.store,
        `update payments set amount_minor = amount_minor + 1 where id = '${id}'`,
      );
      service.service.database.refresh();
      return id;
    };
    const stays = async (id: string, status: string) => {
      service.service.database.refresh();
      const [row] = await service.service.database.query<{ status: string; version: number }>(
        'select status, version from payments where id = ?',
        id,
      );
      assert.deepEqual(row, { status, version: 1 });
      await assert.rejects(service.verify(), /is not as entry \d+ left it/);
    };

    test('is not cancelled by its merchant.', async () => {
      const id = await edited();
      const { status, json } = await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      assert.equal(status, 409);
      assert.equal(json.error.code, 'conflict');
      assert.match(json.error.message, CHANGED.message);
      await stays(id, 'pending');
    });

    test('is not submitted, though its page was open before.', async () => {
      const id = await edited();
      await assert.rejects(submit(service, id), CHANGED);
      await stays(id, 'pending');
    });

    test('is shown as expired, and its expiry is written when the change was acknowledged.', async () => {
      const id = await edited({ expires_in: 300 });
      service.clock.advance(301_000);
      await sweep(service);
      assert.equal((await service.request(`/v1/payments/${id}`)).json.data.status_reason, 'expired');
      await stays(id, 'pending');
      await assert.rejects(erase(service, id), CHANGED);
      await stays(id, 'pending');
      await acknowledgeAll(service, 'For the test.');
      await erase(service, id);
      await service.verify();
    });

    test('takes no request for a new link.', async () => {
      const { id } = await service.create({ expires_in: 300 });
      service.clock.advance(301_000);
      await sweep(service);
      await editOutside(service.store, `update payments set amount_minor = 1 where id = '${id}'`);
      await assert.rejects(askForLink(service, id), CHANGED);
    });
  });
