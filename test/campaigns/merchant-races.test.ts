// Changes of merchants and keys at the same moment on several nodes: none is lost, and what ended leaves nothing behind.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Work } from '../../src/journal/transaction.ts';
import { sha256Hex } from '../../src/lib/secrets.ts';
import {
  changeKeys,
  issueKey,
  NEW_KEYS_PER_DAY,
  revokeKey,
  rotateKey,
  WORKING_KEYS_MAXIMUM,
} from '../../src/merchants/api-keys.ts';
import {
  changeMerchantState,
  commitChange,
  limitMerchant,
  writeMerchant,
} from '../../src/merchants/change.ts';
import { countKeys, findKey, findMerchant, keysMadeBy } from '../../src/merchants/queries.ts';
import { importMerchant } from '../../src/merchants/register.ts';
import { DatabaseError } from '../../src/store/database.ts';
import { ask, OPERATOR } from '../support/harness.ts';
import { addMerchant } from '../support/store-merchant.ts';
import { ENGINES } from '../support/stores.ts';
import { type Nodes, startNodes } from './nodes.ts';

const WHO = { ...OPERATOR, by: 'operator' };
/** For how long one node holds what it has written before it commits. */
const HELD_MS = 200;

for (const engine of ENGINES)
  describe(`changes at the same moment on ${engine}`, () => {
    let nodes: Nodes;
    before(async () => {
      nodes = await startNodes(engine);
    });
    after(async () => {
      try {
        await nodes.harness.verify();
      } finally {
        await nodes.close();
      }
    });
    const one = () => nodes.services[0]!;
    const other = () => nodes.services.at(-1)!;
    /** Does `work` on the other node, which commits it a while later; `meanwhile` runs in between. */
    async function during<T>(row: string, work: Work<unknown>, meanwhile: () => Promise<T>): Promise<T> {
      let written!: () => void;
      const isWritten = new Promise<void>((resolve) => {
        written = resolve;
      });
      const held = other().journal.commit(async (transaction) => {
        await work(transaction);
        written();
        if (engine === 'postgres') await sleep(HELD_MS);
      }, row);
      await isWritten;
      const [, result] = await Promise.all([held, meanwhile()]);
      return result;
    }
    const post = (node: number, path: string, key: string, body: object = {}) =>
      ask(nodes.origins.at(node)!, `/v1/api_keys${path}`, { method: 'POST', key, body });
    const working = async (merchantId: string) =>
      (await countKeys(one().database, merchantId, 'test', { now: nodes.harness.clock.now(), since: 0 }))
        .working;
    /** A key that the store made for a merchant of the configuration, which has no row. */
    const keyOfTheFile = () =>
      changeKeys(one(), 'mer_other', (transaction) =>
        issueKey(
          transaction,
          { merchantId: 'mer_other', mode: 'test', name: null, expires_at: null },
          OPERATOR,
        ),
      );

    test('a suspension is not lost to a change of the limits, nor the limits to it.', async () => {
      const { merchant } = await addMerchant(nodes.harness);
      const { id } = merchant;
      const limits = '{"writes_per_second":7}';
      const limited: Work<unknown> = (transaction) =>
        writeMerchant(transaction, OPERATOR, 'merchant.limited', id, () => ({ limits }));
      await during(id, limited, () => changeMerchantState(one().journal, id, 'suspended', WHO, 'It stands.'));
      const row = (await findMerchant(one().database, id))!;
      assert.ok(row.suspended_at !== null);
      assert.equal(row.limits, limits);
      await Promise.all([
        limitMerchant(other().journal, id, { reads_per_second: 9 }, OPERATOR),
        changeMerchantState(one().journal, id, 'resumed', WHO, 'So does this.'),
      ]);
      const after = (await findMerchant(one().database, id))!;
      assert.deepEqual([after.suspended_at, after.limits], [null, '{"reads_per_second":9}']);
    });

    test('a merchant that is suspended while it is taken over is both.', async () => {
      const id = 'mer_development';
      await changeMerchantState(one().journal, id, 'suspended', WHO, 'First');
      const profile = { name: 'Development Shop', website: null, support: null, methods: null, limits: {} };
      const none = { suspended_at: null, suspended_by: null };
      const resumed: Work<unknown> = (transaction) =>
        writeMerchant(transaction, OPERATOR, 'merchant.resumed', id, () => none);
      const done = await during(id, resumed, () =>
        importMerchant(one().journal, { id, ...profile, keys: [] }, OPERATOR),
      );
      assert.equal(done.merchant?.suspended_at, null);
      assert.equal((await findMerchant(one().database, id))!.name, 'Development Shop');
    });

    test('a merchant that two nodes take over at once is taken over by one: what it changed since stays.', async () => {
      const id = 'mer_other';
      await changeMerchantState(one().journal, id, 'suspended', WHO, 'First');
      const profile = { name: 'Other Shop', website: null, support: null, methods: null, limits: {} };
      const takenOver: Work<unknown> = (transaction) =>
        writeMerchant(transaction, OPERATOR, 'merchant.imported', id, () => ({ name: 'Renamed since' }));
      const done = await during(id, takenOver, () =>
        importMerchant(one().journal, { id, ...profile, keys: [] }, OPERATOR),
      );
      assert.equal(done.merchant, undefined);
      assert.equal((await findMerchant(one().database, id))!.name, 'Renamed since');
    });

    test('a revocation is not lost to a rotation: the key works no more, although it was to work for a week.', async () => {
      const stored = await addMerchant(nodes.harness);
      for (const { row } of [await keyOfTheFile(), stored]) {
        const key = one().directory.key(row.digest)!;
        const rotated: Work<unknown> = (transaction) =>
          rotateKey(transaction, key, { overlapMs: 7 * 86_400_000 }, OPERATOR);
        await during(row.merchant_id, rotated, () =>
          changeKeys(one(), row.merchant_id, (transaction) => revokeKey(transaction, key, OPERATOR)),
        );
        const after = (await findKey(one().database, row.id))!;
        assert.ok(after.revoked_at !== null && after.replaced_by !== null && after.version === 3);
      }
    });

    test('a rotation that comes too late undoes no revocation.', async () => {
      const { row } = await keyOfTheFile();
      const key = one().directory.key(row.digest)!;
      const revoked: Work<unknown> = (transaction) => revokeKey(transaction, key, OPERATOR);
      const rotate = () =>
        changeKeys(one(), 'mer_other', (transaction) =>
          rotateKey(transaction, key, { overlapMs: 0 }, OPERATOR),
        );
      await assert.rejects(during('mer_other', revoked, rotate), { code: 'invalid_status' });
      assert.equal((await findKey(one().database, row.id))!.replaced_by, null);
    });

    test('a key that is being revoked on another node makes, rotates and revokes none.', async () => {
      for (const path of ['', 'rotate', 'revoke']) {
        const { key, row, merchant } = await addMerchant(nodes.harness);
        const target = await post(0, '', key);
        assert.equal(
          (await post(-1, `/${row.id}/rotate`, key, { name: 1 })).status,
          422,
          'both nodes know it',
        );
        const known = one().directory.key(row.digest)!;
        const answer = await during(
          merchant.id,
          (transaction) => revokeKey(transaction, known, OPERATOR),
          () => post(0, path && `/${target.json.data.id}/${path}`, key),
        );
        assert.equal(answer.status, 401, path);
        assert.equal(answer.json.error.message, 'The API key is missing or invalid.');
        assert.equal(await working(merchant.id), 1, 'the target alone');
      }
    });

    test('nor does a key of a merchant that was suspended a moment ago on another node.', async () => {
      for (let i = 0; i < 3; i++) {
        const { key, merchant } = await addMerchant(nodes.harness);
        assert.equal((await post(0, '', key)).status, 201);
        await changeMerchantState(other().journal, merchant.id, 'suspended', WHO, 'Now');
        assert.equal((await post(0, '', key)).status, 403);
      }
    });

    test('of sixty keys that are asked for at once, on all nodes, as many are made as may work.', async () => {
      const { key, merchant } = await addMerchant(nodes.harness);
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, i) => post(i % nodes.origins.length, '', key)),
      );
      assert.equal(answers.filter(({ status }) => status === 201).length, WORKING_KEYS_MAXIMUM - 1);
      for (const { status, json } of answers) if (status !== 201) assert.equal(json.error.code, 'conflict');
      assert.equal(await working(merchant.id), WORKING_KEYS_MAXIMUM);
    });

    test('a merchant makes so many keys of a mode within a day, then none until the next.', async () => {
      const { key, row, merchant } = await addMerchant(nodes.harness);
      let made = 1;
      for (let round = 0; made < NEW_KEYS_PER_DAY && round < 9; round++) {
        const some = Array.from({ length: 49 }, () => post(0, '', key, { expires_in: 60 }));
        made += (await Promise.all(some)).filter(({ status }) => status === 201).length;
        nodes.harness.clock.advance(61_000);
      }
      assert.equal(made, NEW_KEYS_PER_DAY);
      for (const path of ['', `/${row.id}/rotate`]) {
        const { status, json } = await post(0, path, key);
        assert.deepEqual([status, json.error.code], [409, 'conflict']);
        assert.equal(
          json.error.message,
          'The merchant made 200 keys within a day. Make the next one tomorrow.',
        );
      }
      const wish = { merchantId: merchant.id, mode: 'live', name: null, expires_at: null } as const;
      await changeKeys(one(), merchant.id, (transaction) => issueKey(transaction, wish, OPERATOR));
      nodes.harness.clock.advance(86_400_000);
      assert.equal((await post(0, '', key)).status, 201);
    });

    test('whoever ends a key is told of those it made, and those that they made, as far as they work.', async () => {
      const { key, row, merchant } = await addMerchant(nodes.harness);
      const child = (await post(0, '', key)).json.data;
      const ended = (await post(0, '', key)).json.data;
      const grandchild = (await post(0, '', ended.key)).json.data;
      await post(0, `/${ended.id}/revoke`, key);
      const made = await keysMadeBy(one().database, row, nodes.harness.clock.now());
      assert.deepEqual(made.map(({ id }) => id).sort(), [child.id, grandchild.id].sort());
      assert.deepEqual(
        made.map(({ merchant_id, made_by }) => [merchant_id, made_by]).sort(),
        [
          [merchant.id, row.id],
          [merchant.id, ended.id],
        ].sort(),
      );
      const revoked = await post(0, `/${row.id}/revoke`, key);
      assert.deepEqual(revoked.json.keys_made.toSorted(), [child.id, grandchild.id].sort());
      assert.equal(child.created_by, row.id);
      assert.equal(sha256Hex(child.key).slice(0, 16), child.id.slice(4));
    });
  });

test('a change is tried four times, then given up as a conflict; what else goes wrong is told at once.', async () => {
  const nodes = await startNodes('sqlite');
  try {
    const { journal } = nodes.services[0]!;
    for (const lost of [0, 1, 3]) {
      let runs = 0;
      const work = () => {
        if (runs++ < lost) throw new DatabaseError('conflict', 'lost');
        return runs;
      };
      assert.equal(await commitChange(journal, 'mer_x', work), lost + 1);
    }
    let runs = 0;
    const never = commitChange(journal, 'mer_x', () => {
      runs++;
      throw new DatabaseError('conflict', 'lost');
    });
    await assert.rejects(never, { code: 'conflict' });
    assert.equal(runs, 4);
    await assert.rejects(
      commitChange(journal, 'mer_x', () => {
        throw new RangeError();
      }),
      RangeError,
    );
  } finally {
    await nodes.close();
  }
});
