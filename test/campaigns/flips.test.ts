// One byte of a SQLite store is flipped: verifying finds it, SQLite refuses the file, or nothing reads it. COUNTERFOIL_RUNS: how often.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Harness, startHarness, writeConfiguration } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { buildHistory } from './administration.ts';
import { drawFlip, FlippedStore, pagesOf } from './flips.ts';
import { forgetAnswers } from './history.ts';
import { told } from './tampering.ts';

const FLIPS = Number(process.env.COUNTERFOIL_RUNS) || 60;
/** Rows this long do not fit into a page of an index, nor of a table that is stored as one. */
const LONG = 'long '.repeat(400);

const random = new SeededRandom();
let service: Harness;
let store: FlippedStore;
before(async () => {
  console.log(`flips: seed ${random.seed} (COUNTERFOIL_SEED)`);
  service = await startHarness('sqlite');
  for (let n = 0; n < 20; n++)
    await service.create({ metadata: { n, LONG } }, { headers: { 'idempotency-key': `key-${n}` } });
  await forgetAnswers(service); // leaves free pages
  for (let n = 0; n < 5; n++)
    await service.create({ metadata: { n, LONG } }, { headers: { 'idempotency-key': `kept-${n}` } });
  await buildHistory(service, random);
  store = new FlippedStore(service.store.storage, writeConfiguration(service.store));
});
after(() => service.store.drop());

test('a store in which nothing is flipped is found right, and every kind of page is there', async () => {
  assert.equal((await store.judge()).is, 'harmless');
  const kinds = new Set(pagesOf(store.file).map(({ kind }) => kind));
  const wanted = [
    'header',
    'free',
    'leaf of tables',
    'leaf of indexes',
    'internal of tables',
    'internal of indexes',
  ];
  assert.deepEqual(
    [...wanted, 'overflow of tables'].filter((kind) => !kinds.has(kind)),
    [],
  );
});

test('a changed time of a key is seen, though no entry tells it', async () => {
  const page = pagesOf(store.file).find(({ place }) => place === 'leaf of table api_key_uses')!;
  const bytes = readFileSync(store.file).subarray(page.start, page.end);
  const id = bytes.toString('latin1').match(/key_\w+/)!;
  assert.equal((await store.judge({ ...page, offset: page.start + id.index!, bits: 0 })).is, 'harmless');
  const afterId = page.start + id.index! + id[0].length;
  assert.equal((await store.judge({ ...page, offset: afterId + 4, bits: 1 })).is, 'untold');
});

test(`each of ${FLIPS} flips is found, refused or harmless`, { timeout: Infinity }, async (context) => {
  const pages = pagesOf(store.file);
  const tally: Record<string, number> = {};
  const count = (what: string) => {
    tally[what] = (tally[what] ?? 0) + 1;
  };
  const misses: string[] = [];
  for (let n = 0; n < FLIPS; n++) {
    const flip = drawFlip(pages, random);
    const { is, says } = await store.judge(flip);
    count(is);
    count(`${flip.kind}: ${is}`);
    if (is === 'missed') misses.push(`byte ${flip.offset} ^ ${flip.bits}, ${flip.place}: ${says}`);
  }
  context.diagnostic(`${JSON.stringify(tally)}`);
  assert.equal(misses.length, 0, told(misses, random.seed));
});
