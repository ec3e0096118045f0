// Checkpoints: only the history that the newest vouches for gets another, and no crash or odd line leaves them unusable.
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import {
  appendFileSync,
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
import type { Seal } from '../../src/journal/audit-entry.ts';
import { readCheckpoints, readCheckpointsPatiently } from '../../src/journal/checkpoint.ts';
import { CheckpointSigner } from '../../src/journal/checkpoint-signer.ts';
import { markCheckpoints } from '../../src/journal/export.ts';

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
/** Signs the history that ends with `newest` and has the usual seals before it. */
const sign = (newest: Seal | undefined, signer = new CheckpointSigner(directory)) =>
  signer.sign(
    {
      newest: async () => newest,
      numbered: async (number) =>
        newest && number < newest.number ? seal(number) : [newest].find((one) => one?.number === number),
    },
    NOW,
  );

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'counterfoil-checkpoint-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('what is signed', () => {
  test('a restart signs no second line for the same seal', async () => {
    await sign(seal(1));
    await sign(seal(1));
    await sign(seal(2));
    assert.deepEqual(
      readCheckpoints(directory).checkpoints.map((one) => one.seal),
      [1, 2],
    );
    assert.equal(fault(), undefined);
  });

  test('nothing is signed for a history that ends before the newest checkpoint, or contradicts it', async () => {
    await sign(seal(5));
    for (const signer of [new CheckpointSigner(directory), new CheckpointSigner(directory)]) {
      const before = /^the history ends before the newest checkpoint .*an older copy was put in its place$/;
      await assert.rejects(sign(seal(4), signer), { message: before });
      await assert.rejects(sign(undefined, signer), { message: before });
      const contradicts =
        /^the history contradicts the newest checkpoint .*an older copy was put in its place$/;
      await assert.rejects(sign(seal(5, 'other'), signer), { message: contradicts });
      await assert.rejects(sign({ ...seal(5), last_entry: 9 }, signer), { message: contradicts });
    }
    assert.equal(lines().length, 1);
  });

  test('a torn end is cut off, and a long file is not read for it', async () => {
    const signer = new CheckpointSigner(directory);
    for (let number = 1; number <= 400; number++) await sign(seal(number), signer);
    const { size } = statSync(checkpoints());
    assert.ok(size > 65_536);
    appendFileSync(checkpoints(), '{"seal":401,"las');
    await sign(seal(400));
    assert.equal(statSync(checkpoints()).size, size);
    await sign(seal(401));
    assert.equal(readCheckpoints(directory).checkpoints.length, 401);

    truncateSync(checkpoints(), 0);
    truncateSync(checkpoints(), 3 * 2 ** 30); // more than can be read whole: 3 GiB of nothing
    appendFileSync(checkpoints(), '\n');
    await assert.rejects(sign(seal(402)), /ends in a line/);
  });

  test('behind a last line that is no checkpoint nothing is signed', async () => {
    await sign(seal(1));
    appendFileSync(checkpoints(), 'null\n');
    await assert.rejects(sign(seal(2)), /ends in a line/);
  });
});

describe('what is read', () => {
  test('two checkpoints of one seal with different hashes are a fault', async () => {
    await sign(seal(1));
    const kept = text();
    writeFileSync(checkpoints(), '');
    await sign(seal(1, 'other'));
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
    test(`a line ${odd || 'of nothing'} is a fault`, async () => {
      await sign(seal(1));
      appendFileSync(checkpoints(), `${odd}\n`);
      assert.equal(fault()?.line, 2);
    });
  }

  test('a number that became a text is a fault, though it reads the same in what was signed', async () => {
    await sign(seal(1));
    writeFileSync(checkpoints(), text().replace('"seal":1,', '"seal":"1",'));
    assert.equal(fault()?.line, 1);
  });

  test('a public key that is none, or more than one, is a fault, and leaves with no export', async () => {
    await sign(seal(1));
    const whole = readFileSync(path('checkpoint-key.pub.pem'), 'utf8');
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    for (const content of [
      '',
      'none',
      whole + whole,
      readFileSync(path('checkpoint-key.pem'), 'utf8'),
      whole + readFileSync(path('checkpoint-key.pem'), 'utf8'),
      rsa.export({ type: 'spki', format: 'pem' }),
    ]) {
      writeFileSync(path('checkpoint-key.pub.pem'), content);
      assert.match(fault()!.problem, /checkpoint-key\.pub\.pem is not one Ed25519/);
      assert.equal(markCheckpoints(directory).public_key, null);
    }
    writeFileSync(path('checkpoint-key.pub.pem'), `\n${whole.replaceAll('\n', '\r\n')}\n`);
    assert.deepEqual([fault(), markCheckpoints(directory).public_key], [undefined, whole]);
  });
});

describe('reading in pieces', () => {
  /** Both ways of reading, and how often the patient one rested. */
  async function readBothWays() {
    let rests = 0;
    const patient = await readCheckpointsPatiently(directory, async () => void rests++);
    assert.deepEqual(patient, readCheckpoints(directory));
    return { rests, ...patient };
  }
  const manyLines = async () => {
    const signer = new CheckpointSigner(directory);
    for (let number = 1; number <= 400; number++) await sign(seal(number), signer);
  };

  test('both ways of reading find the same, and one rests after each few', async () => {
    assert.deepEqual(await readBothWays(), { rests: 0, checkpoints: [] });
    new CheckpointSigner(directory);
    assert.deepEqual((await readBothWays()).checkpoints, []);
    await manyLines();
    const { rests, checkpoints: found } = await readBothWays();
    assert.deepEqual(
      found,
      lines().map((line) => JSON.parse(line)),
    );
    assert.ok(found.length / rests < 40, 'some 5 ms of checking at once, no more');
    appendFileSync(checkpoints(), '{"seal":401');
    assert.equal((await readBothWays()).checkpoints.length, 400);
  });

  test('both stop at the first line that is not right, or has no end', async () => {
    await manyLines();
    const whole = lines();
    writeFileSync(
      checkpoints(),
      `${whole.with(299, whole[298]!.replace('"seal":299', '"seal":300')).join('\n')}\n`,
    );
    const reading = await readBothWays();
    assert.deepEqual(reading.fault, { line: 300, problem: 'the signature is wrong' });
    assert.equal(reading.checkpoints.length, 299);
    writeFileSync(checkpoints(), `${whole[0]}\n${'7'.repeat(3e5)}`);
    assert.equal((await readBothWays()).fault?.line, 2);
  });

  test('a rest that fails ends it', async () => {
    await manyLines();
    const stop = new Error('stop');
    await assert.rejects(
      readCheckpointsPatiently(directory, () => Promise.reject(stop)),
      stop,
    );
  });
});

describe('the keys', () => {
  test('a missing or empty public key is derived from the private one', async () => {
    await sign(seal(1));
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

  test('where nothing is signed yet, an empty key of a crashed first start is made anew', async () => {
    writeFileSync(path('checkpoint-key.pem'), '');
    const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
    writeFileSync(path('checkpoint-key.pub.pem'), other);
    await sign(seal(1));
    assert.equal(fault(), undefined);
  });

  test('where checkpoints are, no new key takes the place of a lost one', async () => {
    await sign(seal(1));
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

  test('a private key that does not fit its public one, or what was signed, stops the start', async () => {
    await sign(seal(1));
    const lost = (message: RegExp) =>
      assert.throws(() => new CheckpointSigner(directory), { name: 'CheckpointKeyLost', message });
    const put = (key: KeyObject) =>
      writeFileSync(path('checkpoint-key.pem'), key.export({ type: 'pkcs8', format: 'pem' }));
    const own = readFileSync(path('checkpoint-key.pem'));
    const before = readFileSync(path('checkpoints.jsonl'));
    put(generateKeyPairSync('ed25519').privateKey);
    lost(/checkpoint-key\.pem does not fit checkpoint-key\.pub\.pem: put the key back/);
    put(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
    lost(/is no Ed25519 key/);
    put(generateKeyPairSync('ed25519').privateKey);
    rmSync(path('checkpoint-key.pub.pem'));
    lost(/did not sign the newest line of checkpoints\.jsonl/);
    assert.deepEqual(readFileSync(path('checkpoints.jsonl')), before);
    rmSync(path('checkpoint-key.pub.pem'));
    writeFileSync(path('checkpoint-key.pem'), own);
    await sign(seal(2));
    assert.equal(fault(), undefined);
  });
});
