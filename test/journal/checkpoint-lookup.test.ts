// Looking checkpoints up: what is found is what reading all of them finds, and a line that is wrong vouches for nothing.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { CheckpointLookup, checkpointFiles, readCheckpoints } from '../../src/journal/checkpoint.ts';
import { CheckpointSigner } from '../../src/journal/checkpoint-signer.ts';
import { SeededRandom } from '../support/seeded-random.ts';

let directory: string;
let lookup: CheckpointLookup;
const files = () => checkpointFiles(directory);
const text = () => readFileSync(files().file, 'utf8');
const write = (lines: readonly string[]) =>
  writeFileSync(files().file, lines.map((line) => `${line}\n`).join(''));
const newest = async () => (await lookup.newest())?.seal;
const covering = async (seal: number) => (await lookup.covering(seal))?.seal;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'counterfoil-lookup-'));
  lookup = new CheckpointLookup(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Signs checkpoints for seals with these numbers. Returns their lines. */
async function signed(numbers: readonly number[], hash = 'hash'): Promise<string[]> {
  const signer = new CheckpointSigner(directory);
  const sealOf = (number: number) => ({
    number,
    first_entry: number,
    last_entry: number,
    at: 0,
    hash: `${hash}-${number}`,
  });
  for (const number of numbers)
    await signer.sign({ newest: async () => sealOf(number), numbered: async (one) => sealOf(one) }, 0);
  return text().split('\n').slice(0, -1);
}
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test('Where nothing was signed there is none.', async () => {
  assert.equal(await newest(), undefined);
  assert.equal(await covering(1), undefined);
  writeFileSync(files().file, '');
  assert.equal(await newest(), undefined);
});

test('What is found is what reading all of them finds, however many there are.', async () => {
  const random = new SeededRandom();
  console.log(`lookup: seed ${random.seed} (COUNTERFOIL_SEED)`);
  let last = 0;
  const numbers = Array.from({ length: 300 }, () => (last += random.between(1, 4)));
  const lines = await signed(numbers);
  for (const count of [1, 2, 15, 16, 17, 18, 33, 100, 299, 300]) {
    write(lines.slice(0, count));
    const all = readCheckpoints(directory).checkpoints;
    assert.equal(all.length, count);
    assert.deepEqual(await lookup.newest(), all.at(-1));
    const end = all.at(-1)!.seal;
    for (let seal = 1; seal <= end + 1; seal++)
      assert.deepEqual(
        await lookup.covering(seal),
        all.find((one) => one.seal >= seal),
        `seal ${seal} of ${count}`,
      );
  }
});

test('It is found wherever its line begins, at the edge of what is read at once too.', async () => {
  const lines = await signed(upTo(60));
  const before = (count: number) => lines.slice(0, count).join('\n').length + 1;
  for (let begins = 4090; begins <= 4100; begins++) {
    write(lines.with(0, lines[0]!.padEnd(lines[0]!.length + begins - before(15)))); // space at the end of a line says nothing
    assert.equal(text().indexOf(lines[15]!), begins);
    for (let seal = 1; seal <= 60; seal++) assert.equal(await covering(seal), seal, `${seal}, ${begins}`);
  }
});

test('A line without its end is waited for.', async () => {
  const [first, second] = await signed([1, 2]);
  write([first!]);
  appendFileSync(files().file, second!);
  assert.deepEqual([await newest(), await covering(2)], [1, undefined]);
  appendFileSync(files().file, '\n');
  assert.deepEqual([await newest(), await covering(2)], [2, 2]);
});

test('A file that became shorter, or is another, is read as it is by now.', async () => {
  const lines = await signed(upTo(40));
  assert.equal(await newest(), 40);
  truncateSync(files().file, `${lines[0]}\n`.length);
  assert.deepEqual([await newest(), await covering(2)], [1, undefined]);
  rmSync(files().file);
  assert.equal(await newest(), undefined);
  await signed(upTo(60), 'other');
  assert.equal((await lookup.newest())!.hash, 'other-60');
  assert.equal((await lookup.covering(7))!.hash, 'other-7');
});

test('A line that is wrong is never shown, wherever it stands and whatever is wrong with it.', async () => {
  const lines = await signed(upTo(60));
  const wrong = [
    (line: string) => line.replace('"hash-', '"hush-'),
    (line: string) => line.replace(/"signature":".{4}/, '"signature":"AAAA'),
    (line: string) => line.replace(/"last_entry":\d+/, '"last_entry":7777'),
    (line: string) => line.replace(/"seal":(\d+)/, '"seal":"$1"'),
    (line: string) => line.replace(/"key":".{4}/, '"key":"0000'),
    (line: string) => `${line}x`,
    () => 'null',
    () => '',
    () => 'x'.repeat(20_000),
  ];
  for (const [index, spoil] of wrong.entries())
    for (const place of [0, 1, 14, 15, 16, 31, 47, 58, 59]) {
      write(lines.with(place, spoil(lines[place]!)));
      const told = `${index} at ${place}`;
      assert.equal(await covering(place + 1), undefined, told);
      assert.notEqual(await newest(), place + 1, told);
      for (const seal of [1, place, place + 2, 60].filter((one) => one >= 1 && one <= 60)) {
        const found = await lookup.covering(seal);
        if (!found) continue;
        assert.equal(JSON.stringify(found), lines[found.seal - 1], told);
        assert.ok(found.seal >= seal, told);
      }
      if (place > 0) assert.equal(await covering(1), 1, `what stands well before is shown: ${told}`);
      if (place < 59) continue;
      assert.equal(await newest(), index < 8 ? 59 : undefined, told);
    }
});

test('Behind a line that is not right an older one is not the newest.', async () => {
  const lines = await signed(upTo(20));
  write([...lines, '{"seal":1}', lines[0]!]);
  assert.deepEqual([await newest(), await covering(1), await covering(21)], [20, 1, undefined]);
  write([...lines, lines[0]!]);
  assert.equal(await newest(), 20);
});

test('Without the public key nothing can be checked, and nothing is shown.', async () => {
  await signed([1]);
  writeFileSync(files().publicKeyFile, 'none');
  assert.deepEqual([await newest(), await covering(1)], [undefined, undefined]);
  rmSync(files().publicKeyFile);
  assert.deepEqual([await newest(), await covering(1)], [undefined, undefined]);
  new CheckpointSigner(directory);
  assert.equal(await newest(), 1);
});
