// A database put back to an older copy under checkpoints that stayed, on both engines: nothing more is signed, however far it grows.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { checkpointFiles, readCheckpoints } from '../../src/journal/checkpoint.ts';
import { newestSeal } from '../../src/journal/queries.ts';
import { HistoryBroken } from '../../src/journal/verify.ts';
import { MINUTE_MS } from '../../src/lib/time.ts';
import { addPerson, type Person } from '../support/admin.ts';
import { signIn } from '../support/console.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { keepDatabase } from '../support/put-back.ts';
import { ENGINES } from '../support/stores.ts';

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    let harness: Harness;
    let folder: string;
    let auditor: Person;
    let session: Awaited<ReturnType<typeof signIn>>;
    let changed: string;

    const signed = () => readFileSync(checkpointFiles(harness.store.storage).file, 'utf8');
    const newestSigned = () => readCheckpoints(harness.store.storage).checkpoints.at(-1)!.seal;
    const refusals = () => harness.logged.filter((line) => line.includes('no checkpoint could be signed'));
    let atPutBack: string;
    /** Stops, and gives why no checkpoint was signed then. They are tried each minute as well. */
    const refusedAtStop = async () => {
      const before = refusals().length;
      await harness.stop();
      return refusals().slice(before).at(-1) ?? '';
    };

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'counterfoil-put-back-'));
      harness = await startHarness(engine);
      auditor = await addPerson(harness, 'auditor');
      session = await signIn(harness, 'auditor', 'Olga Auditor');
      await harness.create();
      await harness.stop(); // signs a checkpoint, as each stop does
      const putBack = await keepDatabase(harness.store, folder);
      await harness.start();
      await harness.create();
      await harness.verify();
      await harness.stop();
      await putBack();
      atPutBack = signed();
      await harness.start();
    });
    after(async () => {
      await harness.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test('ending before the newest checkpoint', async () => {
      harness.clock.advance(10 * MINUTE_MS);
      assert.match((await session.get('/')).body, /no checkpoint vouches for them/);
      assert.match((await session.get('/health')).text, /The store holds \d+ entries, and the checkpoint of/);
      assert.match(await refusedAtStop(), /ends before the .* older copy/);
      assert.equal(signed(), atPutBack);
      await harness.start();
    });

    test('grown to the same seal again', async () => {
      changed = (await harness.create({ amount: 1 })).id;
      assert.equal((await newestSeal(harness.service.database))!.number, newestSigned());
      assert.match(await refusedAtStop(), /contradicts the .* older copy/);
      assert.equal(signed(), atPutBack);
      await harness.start();
      await assert.rejects(harness.verify(), HistoryBroken);
    });

    test('what it holds by now is not vouched for by the checkpoint of what it held', async () => {
      const { json } = await harness.request(`/admin/payments/${changed}`, { key: auditor.token });
      assert.ok(json.data.timeline[0].seal.number <= newestSigned());
      assert.equal(json.data.timeline[0].checkpoint, null);
    });

    test('grown past it, and at each time from then on', async () => {
      for (let time = 0; time < 2; time++) {
        await harness.create({ amount: 2 });
        assert.ok((await newestSeal(harness.service.database))!.number > newestSigned());
        assert.match(await refusedAtStop(), /contradicts the .* older copy/);
        assert.equal(signed(), atPutBack, 'nothing is signed');
        await harness.start();
        await assert.rejects(harness.verify(), HistoryBroken);
      }
    });

    test('until its operator moves the checkpoints away', async () => {
      await harness.stop();
      const refused = refusals().length;
      renameSync(checkpointFiles(harness.store.storage).file, join(folder, 'away.jsonl'));
      await harness.start();
      await harness.create({ amount: 3 });
      await harness.stop();
      assert.equal(refusals().length, refused);
      await harness.start();
      assert.equal((await newestSeal(harness.service.database))!.number, newestSigned());
      await harness.verify();
    });
  });
}
