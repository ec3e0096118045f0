// GET /v1/payments?updated_after=: what changed, each payment once at its newest change, oldest change first, and nothing missed.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addPerson, claimAs, post, sentForReview } from '../../support/admin.ts';
import { assertFaults } from '../../support/faults.ts';
import { createIn, KEY, OTHER_KEY, sharedHarness } from '../../support/harness.ts';
import { erase, listStretches } from '../../support/payments.ts';
import { ENGINES } from '../../support/stores.ts';
import { besideTwoNodes } from '../../support/two-nodes.ts';

for (const engine of ENGINES) {
  describe(`payments by their changes on ${engine}`, () => {
    const service = sharedHarness(engine);

    async function list(since: string, query = '', key = KEY) {
      const answer = await service.request(
        `/v1/payments?updated_after=${encodeURIComponent(since)}${query && `&${query}`}`,
        { key },
      );
      assert.equal(answer.status, 200, answer.text);
      return answer.json as {
        data: { id: string; status: string }[];
        has_more: boolean;
        next_cursor: null;
        next_updated_cursor: string;
      };
    }
    const cancel = (id: string) => service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
    const nowText = () => `${new Date(service.clock.now()).toISOString().slice(0, 19)}+00:00`;

    /** Everything that changed behind a position, a page at a time. `between` runs after each page. */
    async function walk(since: string, query = '', between = async () => {}) {
      const ids: string[] = [];
      let cursor = since;
      for (let more = true; more; ) {
        const page = await list(cursor, query);
        ids.push(...page.data.map(({ id }) => id));
        ({ has_more: more, next_updated_cursor: cursor } = page);
        await between();
      }
      return { ids, cursor };
    }

    /** A cursor behind all that there is by now. */
    const end = async () => (await walk('2026-01-01T00:00:00Z', 'limit=100')).cursor;

    test('payments of one moment are walked through by cursor, each once, those that changed again last', async () => {
      service.clock.stop(); // and not a day on, when the sweeper would expire what another test made
      const since = nowText();
      const made: string[] = [];
      for (let commit = 0; commit < 3; commit++)
        made.push(...(await createIn(service.service.journal, service, 100)));
      await cancel(made[5]!);
      await cancel(made[200]!);
      const expected = [...made.filter((_, i) => i !== 5 && i !== 200), made[5]!, made[200]!];
      for (const limit of [100, 31]) assert.deepEqual((await walk(since, `limit=${limit}`)).ids, expected);
      await listStretches(service.service);
      assert.deepEqual((await walk(since, 'limit=70')).ids, expected, 'after its stretches are listed');

      const cancelled = await walk(since, 'status=cancelled');
      assert.deepEqual(cancelled.ids, [made[5], made[200]]);
    });

    test('a payment that changes between two pages is in the next one, and what is new comes at the end', async () => {
      const since = await end();
      const ids: string[] = [];
      for (let i = 0; i < 6; i++) ids.push((await service.create()).id);
      let pages = 0;
      let late = '';
      const { ids: walked, cursor } = await walk(since, 'limit=2', async () => {
        pages += 1;
        if (pages !== 1) return;
        await cancel(ids[0]!); // shown already
        await cancel(ids[5]!); // yet to come
        late = (await service.create()).id;
      });
      assert.deepEqual(walked, [ids[0], ids[1], ids[2], ids[3], ids[4], ids[0], ids[5], late]);
      const nothing = await list(cursor);
      assert.deepEqual(nothing, {
        data: [],
        has_more: false,
        next_cursor: null,
        next_updated_cursor: cursor,
      });
    });

    test('a claim is no change that a merchant sees, erased data is one', async () => {
      const ana = await addPerson(service, 'administrator');
      const id = await sentForReview(service);
      const since = await end();
      await claimAs(service, ana, id);
      const claimed = await list(since);
      assert.deepEqual(claimed.data, []);
      await post(service, ana, `/admin/payments/${id}/reject`, { reason: 'duplicate' });
      const rejected = await list(claimed.next_updated_cursor);
      assert.deepEqual(
        rejected.data.map((one) => [one.id, one.status]),
        [[id, 'rejected']],
      );
      await erase(service, id);
      const erased = await list(rejected.next_updated_cursor);
      assert.deepEqual(
        erased.data.map((one) => one.id),
        [id],
      );
    });

    test('a time includes what changed at it, and a plus sign may arrive as a space', async () => {
      service.clock.advance(1000);
      await service.create();
      service.clock.advance(1000);
      const before = nowText();
      const { id } = await service.create();
      const ids = async (since: string) => (await list(since)).data.map((one) => one.id);
      assert.deepEqual(await ids(before), [id]);
      assert.deepEqual(await ids(before.replace('+00:00', 'Z')), [id]);
      const unescaped = await service.request(`/v1/payments?updated_after=${before}`);
      assert.deepEqual(
        unescaped.json.data.map((one: { id: string }) => one.id),
        [id],
      );
      service.clock.advance(120_000); // a time is looked for from a minute before on, because clocks differ
      const later = nowText();
      assert.deepEqual(await list(later), {
        data: [],
        has_more: false,
        next_cursor: null,
        next_updated_cursor: later,
      });
    });

    test("no other merchant's payment is listed, and a cursor of another merchant is none", async () => {
      const since = nowText();
      await service.create();
      const cursor = await end();
      assert.deepEqual((await list(since, '', OTHER_KEY)).data, []);
      const stolen = await service.request(`/v1/payments?updated_after=${cursor}`, { key: OTHER_KEY });
      assert.equal(stolen.status, 422);
    });

    test('what is neither a time nor a cursor is refused, and so is a cursor of the other order beside it', async () => {
      for (const wrong of ['yesterday', '2026-11-20', '2026-11-20T10:00:00', '2026-13-20T10:00:00Z', 'evt_1'])
        assertFaults(await service.request(`/v1/payments?updated_after=${wrong}`), ['updated_after'], wrong);
      await service.create();
      await service.create();
      const { next_cursor } = (await service.request('/v1/payments?limit=1')).json;
      const both = await service.request(
        `/v1/payments?cursor=${next_cursor}&updated_after=2026-11-20T10:00:00Z`,
      );
      assertFaults(both, ['cursor'], 'both');
    });
  });
}

test('a server that polls misses no change of what two nodes commit at once on postgres, and hears each payment’s newest last.', async () => {
  const heard = new Map<string, string>();
  let cursor = '2026-01-01T00:00:00Z';
  const cancelled = await besideTwoNodes(async (service) => {
    for (let more = true; more; ) {
      const address = `/v1/payments?limit=100&updated_after=${cursor}`;
      const { data, has_more, next_updated_cursor } = (await service.request(address)).json;
      for (const { id, status } of data) heard.set(id, status);
      more = has_more;
      cursor = next_updated_cursor;
    }
  });
  assert.deepEqual(
    [...heard].toSorted(),
    cancelled.map((id) => [id, 'cancelled'] as [string, string]).toSorted(),
  );
});
