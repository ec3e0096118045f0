// counterfoil audit verify with a copy of the checkpoints or from an entry on, and counterfoil audit export.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readCheckpoints } from '../../../src/journal/checkpoint.ts';
import { CheckpointSigner } from '../../../src/journal/checkpoint-signer.ts';
import { newestSeal } from '../../../src/journal/queries.ts';
import { lockRow } from '../../../src/journal/record-row.ts';
import { verifyHistory } from '../../../src/journal/verify.ts';
import { PAYMENTS } from '../../../src/payments/payment.ts';
import { recordPayment } from '../../../src/payments/transition.ts';
import type { Reader } from '../../../src/store/database.ts';
import { editCopy } from '../../campaigns/break-in.ts';
import type { Access } from '../../campaigns/intruder.ts';
import { verifyExport } from '../../campaigns/third-party.ts';
import {
  COMMAND,
  oldNode,
  operatorOf,
  plainEnvironment,
  ROOT,
  requireRefusal,
  run,
} from '../../support/command.ts';
import { createIn, type Harness, startHarness } from '../../support/harness.ts';
import { viewSqlite } from '../../support/read-only-store.ts';

const ENTRIES = 12;
const MANY = 1000;
const FILES = ['checkpoints.jsonl', 'checkpoint-key.pub.pem'];

describe('audit verify and export', () => {
  let service: Harness;
  let env: Record<string, string>;
  let folder: string;
  const command = (...args: string[]) => run(['audit', ...args], { env, cwd: folder });
  const stored = (name: string) => join(service.store.storage, name);
  const kept = (name: string) => join(folder, name);

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-audit-'));
    service = await startHarness('sqlite');
    env = operatorOf(service.store);
    for (let i = 0; i < ENTRIES; i++) {
      await service.create();
      if (i % 4 === 3) {
        await service.stop(); // signs a checkpoint
        await service.start();
      }
    }
    for (const name of FILES) copyFileSync(stored(name), kept(name));
  });
  after(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('--since recomputes from an entry on and says what it took on trust', async () => {
    const { code, stdout } = await command('verify', '--since', '5');
    assert.equal(code, 0);
    assert.match(stdout, /^Verified: 12 entries .* 12 payments, .* Taken on trust: the first 4 entries and/);
    const { since, trusted_entries, payments } = JSON.parse(
      (await command('verify', '--since', '5', '--json')).stdout,
    );
    assert.deepEqual([since, trusted_entries, payments], [5, 4, 12]);
    const beyond = await command('verify', '--since', '13');
    assert.equal(beyond.code, 1);
    assert.match(beyond.stdout, /^Broken at entry 13: .* ends at entry 12/);
    for (const odd of ['0', '-1', '1.5', 'x'])
      assert.equal((await command('verify', '--since', odd)).code, 2, odd);
  });

  test('--since counts the entries it does not read', async () => {
    const reading = readCheckpoints(service.store.storage);
    const verify = (view: Reader) =>
      verifyHistory({ engine: 'sqlite', snapshot: (look) => look(view) }, reading, [], { since: 5 });
    const remove = (access: Access) => access.rows('delete from audit_entries where number = 2');
    const missed = { message: 'there are 3 entries before entry 5' };
    await service.stop();
    await editCopy(stored('counterfoil.sqlite'), kept('edited.sqlite'), remove);
    await service.start();
    await viewSqlite(kept('edited.sqlite'), (view) => assert.rejects(verify(view), missed));
  });

  test('a copy of the checkpoints is held to the history beside those of the server', async () => {
    const { code, stdout } = await command('verify', '--checkpoints', 'checkpoints.jsonl');
    assert.equal(code, 0);
    assert.match(stdout, /3 checkpoints, 3 copied checkpoints\.\n$/);
    const elsewhere = join(folder, 'elsewhere.pem');
    copyFileSync(kept(FILES[1]!), elsewhere);
    mkdirSync(join(folder, 'alone'));
    const alone = join(folder, 'alone', 'checkpoints.jsonl');
    copyFileSync(kept(FILES[0]!), alone);
    assert.equal((await command('verify', '--checkpoints', alone, '--key', elsewhere)).code, 0);
    for (const [option, file, said] of [
      ['--checkpoints', alone, /checkpoint-key\.pub\.pem does not exist/],
      ['--checkpoints', 'none.jsonl', /none\.jsonl does not exist/],
      ['--key', elsewhere, /--checkpoints: give both/],
    ] as const)
      assert.match((await command('verify', option, file)).stderr, said);
  });

  test('checkpoints cut off at the server are missed by their copy', async () => {
    const text = readFileSync(stored(FILES[0]!), 'utf8');
    writeFileSync(stored(FILES[0]!), text.slice(0, text.indexOf('\n') + 1));
    assert.equal((await command('verify')).code, 0, 'nobody can tell without the copy');
    const { code, stdout } = await command('verify', '--checkpoints', kept(FILES[0]!));
    assert.equal(code, 1);
    assert.match(stdout, /^Broken: .* end at seal 4, .* for seal 12: /);
    rmSync(stored(FILES[0]!));
    assert.match((await command('verify', '--checkpoints', kept(FILES[0]!))).stdout, / end at seal 0, /);
    writeFileSync(stored(FILES[0]!), text, { mode: 0o600 });
  });

  test('a history made anew, and signed anew, is not the one that a copy vouches for', async () => {
    const other = mkdtempSync(join(tmpdir(), 'counterfoil-other-'));
    const seal = (await newestSeal(service.service.database))!;
    const signer = new CheckpointSigner(other);
    const history = { newest: async () => seal, numbered: async () => seal };
    await signer.sign(history, 0);
    const file = join(other, FILES[0]!);
    const honest = await command('verify', '--checkpoints', file);
    assert.match(honest.stdout, /1 copied checkpoint .*another key\.\n$/);
    writeFileSync(file, '');
    const another = { ...seal, hash: 'another' };
    await new CheckpointSigner(other).sign({ ...history, newest: async () => another }, 0);
    const { code, stdout } = await command('verify', '--checkpoints', file);
    assert.equal(code, 1);
    assert.match(stdout, /^Broken at entry 12: seal 12 is .*copied/);
    writeFileSync(file, readFileSync(file, 'utf8').replace('another', 'anothez'));
    assert.match((await command('verify', '--checkpoints', file)).stdout, /^Broken: copied checkpoint in/);
    rmSync(other, { recursive: true });
  });

  test('with the checkpoints of another store, their file and the database are named', async () => {
    const other = await startHarness('sqlite');
    await other.create();
    await other.stop(); // signs a checkpoint
    const file = join(other.store.storage, FILES[0]!);
    const database = stored('counterfoil.sqlite');
    const copied = await command('verify', '--checkpoints', file);
    assert.equal(copied.code, 1);
    const [, said] = copied.stdout.trim().split('\n');
    assert.ok(said?.startsWith(`The checkpoints are ${file}, `) && said.includes(database), copied.stdout);
    const json = JSON.parse((await command('verify', '--checkpoints', file, '--json')).stdout);
    assert.equal(json.checkpoints, file);
    assert.ok(json.database.includes(database), json.database);
    await other.close();
  });

  test('an export is whole, private, and what a third party verifies', async () => {
    const { code, stdout } = await command('export', '--output', 'history.ndjson');
    assert.equal(code, 0);
    assert.match(stdout, /^Exported 12 entries under 12 seals and 3 checkpoints to \S*history\.ndjson\.\n$/);
    assert.equal(statSync(kept('history.ndjson')).mode & 0o077, 0);
    assert.equal(existsSync(kept('history.ndjson.new')), false);
    const verifier = join(ROOT, 'scripts/verify-export.js');
    for (const node of [process.execPath, ...(oldNode ? [oldNode] : [])]) {
      const args = [verifier, 'history.ndjson', '--key', FILES[1]!];
      assert.equal(
        execFileSync(node, args, { cwd: folder, encoding: 'utf8', env: plainEnvironment() }),
        'Verified: 12 entries, 12 seals, 3 checkpoints by the key given.\n',
      );
    }
    const piped = (await command('export')).stdout.split('\n');
    const written = readFileSync(kept('history.ndjson'), 'utf8').split('\n');
    assert.deepEqual(piped.slice(1), written.slice(1));
    const json = JSON.parse((await command('export', '--output', 'h2.ndjson', '--json')).stdout);
    assert.deepEqual([json.entries, json.seals, json.checkpoints], [12, 12, 3]);
  });

  test('an export from an entry on begins with the seal that holds it', async () => {
    await command('export', '--since', '5', '--output', 'part.ndjson');
    const { said } = await verifyExport(kept('part.ndjson'));
    assert.match(said, /^Verified: 12 entries, .* before 5 are taken/);
    const beyond = await command('export', '--since', '13', '--output', 'none.ndjson');
    requireRefusal(beyond, 1, /holds entry 13: /);
    assert.equal(existsSync(kept('none.ndjson')), false);
  });

  test('another key than that of the checkpoints is told', async () => {
    const other = mkdtempSync(join(tmpdir(), 'counterfoil-other-'));
    new CheckpointSigner(other);
    await command('export', '--output', 'history.ndjson');
    const { verified, said } = await verifyExport(kept('history.ndjson'), '--key', join(other, FILES[1]!));
    assert.equal(verified, false);
    assert.match(said, /^Broken in line \d+: .*key inside/);
    rmSync(other, { recursive: true });
  });

  test('whoever reads only the beginning of an export is left in peace', async () => {
    await createIn(service.service.journal, service, MANY); // more than a pipe holds
    const ended = spawnSync('sh', ['-c', `'${process.execPath}' '${COMMAND}' audit export | head -n 1`], {
      env: plainEnvironment(env),
      encoding: 'utf8',
    });
    assert.match(ended.stdout, /^\{"format":"counterfoil audit export","version":1,/);
    assert.equal(ended.stderr, '');
  });

  test('a payment whose status is not the one its entries lead to is found', async () => {
    const { id } = await service.create();
    await service.verify();
    await service.service.journal.commit(async (transaction) => {
      const sql = "update payments set status = 'approved', version = version + 1 where id = ? returning *";
      const before = (await lockRow(transaction, PAYMENTS, id))!;
      const [row] = await transaction.change(sql, id);
      const act = { actor: 'operator', request_id: null };
      await recordPayment(transaction, act, 'payment.cancelled', before, row as never);
    });
    await assert.rejects(service.verify(), { subject: id, message: /approved, its .* cancelled$/ });
  });
});
