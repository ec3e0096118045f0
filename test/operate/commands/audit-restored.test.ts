// A store put back to an older copy is refused by a start until counterfoil audit restored has recorded it, on both engines.
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readCheckpoints } from '../../../src/journal/checkpoint.ts';
import { newestEntriesAbout } from '../../../src/journal/queries.ts';
import { COMMAND, operatorOf, requireRefusal, run, start } from '../../support/command.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { keepDatabase } from '../../support/put-back.ts';
import { ENGINES } from '../../support/stores.ts';

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    let harness: Harness;
    let folder: string;
    let env: Record<string, string>;
    const command = (...args: string[]) => run(args, { env });
    const signed = () => readCheckpoints(harness.store.storage).checkpoints;
    /** Entries of the older copy, and of what the checkpoints vouch for. */
    const [HELD, VOUCHED] = [2, 5];

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'counterfoil-restored-'));
      harness = await startHarness(engine);
      env = { ...operatorOf(harness.store), PORT: '0' };
      for (let entries = 0; entries < HELD; entries++) await harness.create();
      await harness.stop();
      const putBack = await keepDatabase(harness.store, folder);
      await harness.start();
      for (let entries = HELD; entries < VOUCHED; entries++) await harness.create();
      await harness.stop();
      assert.equal(
        (await command('audit', 'restored')).code,
        1,
        'with nothing put back there is nothing to record',
      );
      await putBack();
    });
    after(async () => {
      await harness.store.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Starts a server by the command line and ends it as soon as it is ready. */
    async function serveOnce(): Promise<void> {
      const server = start(process.execPath, [COMMAND, 'serve'], { env });
      await server.until(/^.*\n/);
      server.child.kill('SIGTERM');
      assert.equal((await server.ended).code, 0, server.stderr);
    }

    const SAID = new RegExp(
      `the store holds ${HELD} entries, and the checkpoint of \\d+ \\w+ \\d{4}, \\d\\d:\\d\\d UTC vouches for ${VOUCHED} entries of another history: .*run counterfoil audit restored`,
    );

    test('a start is refused with both numbers and with 78, and changes nothing', async () => {
      const before = signed();
      for (let time = 0; time < 2; time++) {
        requireRefusal(await command('serve'), 78, SAID);
      }
      assert.deepEqual(signed(), before);
    });

    test('doctor fails with both numbers', async () => {
      const { stdout } = await command('doctor', '--json');
      const found = JSON.parse(stdout).findings.find(({ id }: { id: string }) => id === 'vouched_history');
      assert.equal(found.outcome, 'failed', stdout);
      assert.match(JSON.stringify(found), / holds 2 entries, .*checkpoint of \d+ \w+ \d{4},/);
    });

    test('a copy of the store that grew past the checkpoint is refused as well', async () => {
      await harness.start(); // as a version did that compared nothing
      for (let entries = HELD; entries <= VOUCHED; entries++) await harness.create();
      await harness.stop();
      requireRefusal(await command('serve'), 78, /the store holds 6 entries, and the checkpoint of \d+ \w+/);
    });

    test('audit restored leaves an entry and keeps the checkpoints, and the next start signs again', async () => {
      const kept = signed();
      const recorded = await command('audit', 'restored', '--json');
      assert.equal(recorded.code, 0, recorded.stderr);
      const { entries, checkpoint_entry, lost_at_least, checkpoints } = JSON.parse(recorded.stdout);
      assert.deepEqual([entries, checkpoint_entry, lost_at_least], [6, 5, 0]);
      assert.equal(
        readFileSync(join(checkpoints, 'checkpoints.jsonl'), 'utf8').trim().split('\n').length,
        kept.length,
      );
      assert.deepEqual(signed(), []);

      await serveOnce();
      const verified = await command('audit', 'verify');
      assert.equal(verified.code, 0, verified.stdout + verified.stderr);
      await harness.start();
      const [entry] = await newestEntriesAbout(harness.service.database, 'history', 1).finally(harness.stop);
      const { actor, action, facts } = entry!;
      const { seal, checkpoint_hash, ...told } = JSON.parse(facts as unknown as string);
      const { hash, signed_at } = kept.at(-1)!;
      assert.deepEqual([actor, action, checkpoint_hash], ['operator', 'history.restored', hash]);
      assert.deepEqual(told, {
        entry: 6,
        checkpoint_seal: kept.at(-1)!.seal,
        checkpoint_entry: 5,
        signed_at,
      });
      assert.ok(seal > 0);
      assert.ok(signed().at(-1)!.last_entry >= entry!.number, 'what is in the history now is signed');
    });

    test('audit restored beside a running server is refused', async () => {
      await harness.start();
      requireRefusal(await command('audit', 'restored').finally(harness.stop), 1, /another server holds the/);
    });

    test('a checkpoint key that is lost is for a person to put back: 78', async () => {
      const key = join(harness.store.storage, 'checkpoint-key.pem');
      renameSync(key, join(folder, 'key.pem'));
      requireRefusal(await command('serve'), 78, /checkpoint-key\.pem is missing or empty/);
      assert.ok(!existsSync(key));
      renameSync(join(folder, 'key.pem'), key);
      await serveOnce();
    });

    describe('the kept outcome of the newest verification', () => {
      let other: Harness;
      const isIntact = () =>
        JSON.parse(readFileSync(join(harness.store.storage, 'last-verification.json'), 'utf8')).intact;
      const fileOf = ({ store }: Harness) => join(store.storage, 'checkpoints.jsonl');
      before(async () => {
        other = await startHarness('sqlite');
        for (let i = 0; i < 3; i++) await other.create();
        await other.stop();
        assert.equal((await command('audit', 'verify')).code, 0);
      });
      after(() => other.store.drop());

      test("stays as it is where another store's checkpoints were named, which are told as a contradiction", async () => {
        const foreign = await command('audit', 'verify', '--checkpoints', fileOf(other));
        assert.equal(foreign.code, 1, foreign.stdout);
        assert.match(foreign.stdout, /Check first/);
        assert.equal(isIntact(), true);
        const key = join(harness.store.storage, 'checkpoint-key.pub.pem');
        const unread = await command('audit', 'verify', '--checkpoints', fileOf(other), '--key', key);
        assert.match(unread.stdout, /copied checkpoint .* line 1: .*another key/);
        assert.equal(isIntact(), true);
      });

      test('says that the history is broken where a copy of its own checkpoints contradicts it', async () => {
        const [replaced] = globSync(join(harness.store.storage, 'replaced-*/checkpoints.jsonl'));
        const key = join(harness.store.storage, 'checkpoint-key.pub.pem');
        const own = await command('audit', 'verify', '--checkpoints', replaced!, '--key', key);
        assert.equal(own.code, 1, own.stdout);
        assert.equal(isIntact(), false);
      });
    });
  });
}
