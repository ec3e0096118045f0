// A whole store put back to yesterday, database and checkpoints together, on both engines: a copy of the checkpoints tells.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { checkpointFiles, readCheckpointFile, readCheckpoints } from '../../src/journal/checkpoint.ts';
import { HistoryBroken, verifyHistory } from '../../src/journal/verify.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { ROW_CHECKS } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES } from '../support/stores.ts';
import { act } from './history.ts';

const random = new SeededRandom();
const A_DAY = 15;

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    let service: Harness;
    let folder: string;
    const kept = (name: string) => join(folder, name);

    /** The storage directory, and on PostgreSQL the database, as a backup of the stopped service holds them. */
    async function backUp(): Promise<void> {
      cpSync(service.store.storage, kept('yesterday'), { recursive: true });
      await onPostgres((name) => [`create database ${name}_yesterday template ${name}`]);
    }
    async function putBack(): Promise<void> {
      rmSync(service.store.storage, { recursive: true });
      mkdirSync(service.store.storage, { mode: 0o700 });
      cpSync(kept('yesterday'), service.store.storage, { recursive: true });
      await onPostgres((name) => [
        `drop database ${name}`,
        `create database ${name} template ${name}_yesterday`,
      ]);
    }
    async function onPostgres(statements: (name: string) => string[]): Promise<void> {
      if (service.store.database_url === null) return;
      const url = new URL(service.store.database_url);
      const name = url.pathname.slice(1);
      url.pathname = '/postgres';
      const client = new pg.Client(url.href);
      await client.connect();
      for (const statement of statements(name)) await client.query(statement);
      await client.end();
    }

    async function aDay(): Promise<void> {
      for (let i = 0; i < A_DAY; i++) await act(service, random);
      await service.create();
      await service.stop(); // signs a checkpoint
    }

    /** As `audit verify --checkpoints` does: the copy was taken where the store stands. */
    const verifyWithCopy = () => {
      const { publicKeyFile } = checkpointFiles(service.store.storage);
      const copy = readCheckpointFile(kept('checkpoints.jsonl'), publicKeyFile);
      const { database } = service.service;
      return verifyHistory(database, readCheckpoints(service.store.storage), ROW_CHECKS, { copy });
    };

    before(async () => {
      console.log(`restored on ${engine}: seed ${random.seed} (COUNTERFOIL_SEED)`);
      folder = mkdtempSync(join(tmpdir(), 'counterfoil-restored-'));
      service = await startHarness(engine);
      await aDay();
      await backUp();
      await service.start();
      await aDay();
      cpSync(checkpointFiles(service.store.storage).file, kept('checkpoints.jsonl'));
      await service.start();
      await verifyWithCopy();
      await service.stop();
      await putBack();
      await service.start();
    });
    after(async () => {
      await service.stop();
      await onPostgres((name) => [`drop database ${name}_yesterday`]);
      await service.store.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    test('the store alone cannot tell, its copy of the checkpoints does', async () => {
      await service.verify();
      const { seals } = await service.verify();
      await assert.rejects(verifyWithCopy, (error) => {
        assert.ok(error instanceof HistoryBroken);
        assert.match(
          error.message,
          new RegExp(`^the history ends at seal ${seals}, but a copied checkpoint of .* vouches for seal `),
        );
        return error.seal === seals + 1;
      });
    });

    test('so it does when another day was spent on top of it, past the seal of the copy', async () => {
      await aDay();
      await service.start();
      for (let i = 0; i < 3 * A_DAY; i++) await service.create();
      const { seals } = await service.verify();
      const copied = readCheckpointFile(
        kept('checkpoints.jsonl'),
        checkpointFiles(service.store.storage).publicKeyFile,
      ).checkpoints.at(-1)!.seal;
      assert.ok(seals > copied, 'the history is longer than the one that the copy is of');
      await assert.rejects(verifyWithCopy, {
        message: new RegExp(`^seal ${copied} is not the one a copied checkpoint of .* vouches for$`),
        seal: copied,
      });
    });
  });
}
