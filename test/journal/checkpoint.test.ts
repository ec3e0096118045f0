// Checkpoints: a database put back is caught even when it has grown again, and no crash or odd line leaves them unusable.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { CheckpointSigner, readCheckpoints } from '../../src/journal/checkpoint.ts';
import type { Seal } from '../../src/journal/seal.ts';
import { HistoryBroken } from '../../src/journal/verify.ts';
import { startHarness } from '../support/harness.ts';

const NOW = Date.UTC(2026, 0, 1);
let directory: string;
const path = (file: string) => join(directory, file);
const checkpoints = () => path('checkpoints.jsonl');
const text = () => readFileSync(checkpoints(), 'utf8');
const lines = () => text().split('\n').slice(0, -1);
const fault = () => readCheckpoints(directory).fault;
const seal = (number: number, hash = `hash-${number}`): Seal => ({
  number,
  first_entry: number,
  last_entry: number,
  at: NOW,
  hash,
});

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'counterfoil-checkpoint-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('what is signed', () => {
  test('a restart signs no second line for the same seal', () => {
    new CheckpointSigner(directory).sign(seal(1), NOW);
    new CheckpointSigner(directory).sign(seal(1), NOW);
    new CheckpointSigner(directory).sign(seal(2), NOW);
    assert.deepEqual(
      readCheckpoints(directory).checkpoints.map((one) => one.seal),
      [1, 2],
    );
    assert.equal(fault(), undefined);
  });

  test('nothing is signed for a history that ends before the newest checkpoint, or contradicts it', () => {
    new CheckpointSigner(directory).sign(seal(5), NOW);
    for (const signer of [new CheckpointSigner(directory), new CheckpointSigner(directory)]) {
      const before = /^the history ends before the newest checkpoint .*an older copy was put in its place$/;
      assert.throws(() => signer.sign(seal(4), NOW), { message: before });
      assert.throws(() => signer.sign(undefined, NOW), { message: before });
      const contradicts =
        /^the history contradicts the newest checkpoint .*an older copy was put in its place$/;
      assert.throws(() => signer.sign(seal(5, 'other'), NOW), { message: contradicts });
      assert.throws(() => signer.sign({ ...seal(5), last_entry: 9 }, NOW), { message: contradicts });
    }
    assert.equal(lines().length, 1);
  });

  test('a torn end is cut off, and a long file is not read for it', () => {
    const signer = new CheckpointSigner(directory);
    for (let number = 1; number <= 400; number++) signer.sign(seal(number), NOW);
    const { size } = statSync(checkpoints());
    assert.ok(size > 65_536);
    appendFileSync(checkpoints(), '{"seal":401,"las');
    new CheckpointSigner(directory).sign(seal(400), NOW);
    assert.equal(statSync(checkpoints()).size, size);
    new CheckpointSigner(directory).sign(seal(401), NOW);
    assert.equal(readCheckpoints(directory).checkpoints.length, 401);

    truncateSync(checkpoints(), 0);
    truncateSync(checkpoints(), 3 * 2 ** 30); // more than can be read whole: 3 GiB of nothing
    appendFileSync(checkpoints(), '\n');
    assert.throws(() => new CheckpointSigner(directory).sign(seal(402), NOW), /ends in a line/);
  });

  test('behind a last line that is no checkpoint nothing is signed', () => {
    new CheckpointSigner(directory).sign(seal(1), NOW);
    appendFileSync(checkpoints(), 'null\n');
    assert.throws(() => new CheckpointSigner(directory).sign(seal(2), NOW), /ends in a line/);
  });
});

describe('what is read', () => {
  test('two checkpoints of one seal with different hashes are a fault', () => {
    new CheckpointSigner(directory).sign(seal(1), NOW);
    const kept = text();
    writeFileSync(checkpoints(), '');
    new CheckpointSigner(directory).sign(seal(1, 'other'), NOW);
    writeFileSync(checkpoints(), kept + text());
    assert.deepEqual(fault(), { line: 2, problem: 'it contradicts the one before' });
    writeFileSync(checkpoints(), kept + kept);
    assert.equal(fault(), undefined, 'twice the same is none');
  });

  for (const odd of [
    'null',
    '7',
    '[]',
    '{}',
    '"text"',
    '{"seal":{"toString":1}}',
    '{"__proto__":null}',
    'x',
    '',
  ]) {
    test(`a line ${odd || 'of nothing'} is a fault`, () => {
      new CheckpointSigner(directory).sign(seal(1), NOW);
      appendFileSync(checkpoints(), `${odd}\n`);
      assert.equal(fault()?.line, 2);
    });
  }

  test('a number that became a text is a fault, though it reads the same in what was signed', () => {
    new CheckpointSigner(directory).sign(seal(1), NOW);
    writeFileSync(checkpoints(), text().replace('"seal":1,', '"seal":"1",'));
    assert.equal(fault()?.line, 1);
  });

  test('a public key that is none is a fault', () => {
    new CheckpointSigner(directory).sign(seal(1), NOW);
    for (const content of ['', 'none']) {
      writeFileSync(path('checkpoint-key.pub.pem'), content);
      assert.match(fault()!.problem, /checkpoint-key\.pub\.pem is not a public key/);
    }
  });
});

describe('the keys', () => {
  test('a missing or empty public key is derived from the private one', () => {
    new CheckpointSigner(directory).sign(seal(1), NOW);
    const whole = readFileSync(path('checkpoint-key.pub.pem'), 'utf8');
    for (const lose of [truncateSync, rmSync]) {
      lose(path('checkpoint-key.pub.pem'));
      new CheckpointSigner(directory);
      assert.equal(readFileSync(path('checkpoint-key.pub.pem'), 'utf8'), whole);
    }
    assert.equal(fault(), undefined);
    for (const file of readdirSync(directory)) assert.equal(statSync(path(file)).mode & 0o077, 0, file);
    assert.deepEqual(readdirSync(directory).sort(), [
      'checkpoint-key.pem',
      'checkpoint-key.pub.pem',
      'checkpoints.jsonl',
    ]);
  });

  test('where nothing is signed yet, an empty key of a crashed first start is made anew', () => {
    writeFileSync(path('checkpoint-key.pem'), '');
    const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
    writeFileSync(path('checkpoint-key.pub.pem'), other);
    new CheckpointSigner(directory).sign(seal(1), NOW);
    assert.equal(fault(), undefined);
  });

  test('where checkpoints are, no new key takes the place of a lost one', () => {
    new CheckpointSigner(directory).sign(seal(1), NOW);
    const publicKey = readFileSync(path('checkpoint-key.pub.pem'));
    for (const [lose, said] of [
      [(file: string) => writeFileSync(file, 'none'), /is not a private key/],
      [truncateSync, /is missing or empty/],
      [rmSync, /is missing or empty/],
    ] as const) {
      lose(path('checkpoint-key.pem'));
      assert.throws(() => new CheckpointSigner(directory), { name: 'CheckpointKeyLost', message: said });
    }
    assert.deepEqual(readFileSync(path('checkpoint-key.pub.pem')), publicKey);
  });
});

test('a database put back and grown to the same seal again is found out', async () => {
  const harness = await startHarness('sqlite');
  const file = join(harness.store.storage, 'counterfoil.sqlite');
  const copy = path('copy.sqlite');
  try {
    await harness.create();
    await harness.stop();
    copyFileSync(file, copy);
    await harness.start();
    await harness.create();
    await harness.verify();
    await harness.stop();
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    copyFileSync(copy, file);
    await harness.start();
    await harness.create({ amount: 1 });
    await harness.stop();
    const refusal = harness.logged.find((line) => line.includes('no checkpoint could be signed'));
    assert.match(refusal ?? '', /contradicts the newest checkpoint .*an older copy was put in its place/);
    await harness.start();
    await assert.rejects(harness.verify(), HistoryBroken);
  } finally {
    await harness.close();
  }
});
