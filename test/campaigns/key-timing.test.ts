// How long a wrong key takes says nothing about a right one: keys that begin as it does against keys of chance, by Welch's t-test.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { newSecret } from '../../src/lib/secrets.ts';
import { type Harness, OTHER_KEY, startHarness } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';

/** Of each kind; COUNTERFOIL_RUNS=50000 is the long form. */
const SAMPLES = Number(process.env.COUNTERFOIL_RUNS) || 4000;
const WARM_UP = 1000;
/** The slowest tenth of all is the machine's doing: collections, other processes. */
const CROPPED = 0.9;
/** |t| above it comes by chance once in a hundred times: it must come again with other samples to be a finding. */
const SUSPECT = 2.576;
const CHECKSUM_CHARACTERS = 6;
/** Of the 43 characters of chance, those that are the right key's; the others are too many to meet it by. */
const SHARED_CHARACTERS = 36;
const OTHER_CHARACTERS = 7;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const PREFIX = 'cfk_test_';

const random = new SeededRandom();

/** A key that is whole and begins as a right one does, up to its last characters of chance. */
function nearlyRight(right: string): string {
  const begins = right.slice(0, PREFIX.length + SHARED_CHARACTERS);
  const body = begins + Array.from({ length: OTHER_CHARACTERS }, () => random.pick([...BASE62])).join('');
  assert.equal(whole(right.slice(0, -CHECKSUM_CHARACTERS)), right);
  return whole(body);
}

/** A key with the checksum of its characters. */
function whole(body: string): string {
  let checksum = '';
  for (let i = 0, rest = crc32(body); i < CHECKSUM_CHARACTERS; i++, rest = Math.floor(rest / 62))
    checksum = BASE62[rest % 62] + checksum;
  return body + checksum;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Welch's t of two samples: how far apart their means lie, in standard errors. */
function welch(one: readonly number[], other: readonly number[]): number {
  const squared = (values: readonly number[], middle: number) =>
    values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1) / values.length;
  const [a, b] = [mean(one), mean(other)];
  return (a - b) / Math.sqrt(squared(one, a) + squared(other, b));
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

describe('a wrong key', () => {
  let service: Harness;
  before(async () => {
    console.log(`key-timing: seed ${random.seed} (COUNTERFOIL_SEED)`);
    service = await startHarness('sqlite');
    assert.equal(await statusOf(OTHER_KEY), 200);
    for (let i = 0; i < WARM_UP; i++) await statusOf(newSecret(PREFIX));
  });
  after(() => service.close());

  // Without a socket: what the network adds would hide more than it shows.
  async function statusOf(key: string): Promise<number> {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await service.service.app.inject({ url: '/v1/payments', headers });
    return answer.statusCode;
  }

  /** How long keys of each kind take to be refused, in microseconds, the kinds in turns of chance. */
  async function measure<K extends string>(kinds: Record<K, () => string>): Promise<Record<K, number[]>> {
    const names = Object.keys(kinds) as K[];
    // All made before any is sent, and each a text of its own: making one leaves traces in what is timed behind it.
    const turns = Array.from({ length: SAMPLES }, () =>
      random.shuffled(names).map((name) => ({ name, key: Buffer.from(kinds[name]()).toString() })),
    ).flat();
    const took = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
    for (const { name, key } of turns) {
      const begun = performance.now();
      const status = await statusOf(key);
      took[name].push((performance.now() - begun) * 1000);
      assert.equal(status, 401);
      service.logged.length = 0;
    }
    return took;
  }

  test('takes as long whether it begins as a right one does or not.', async (t) => {
    let found = Number.POSITIVE_INFINITY;
    for (let attempt = 1; attempt <= 2 && Math.abs(found) > SUSPECT; attempt++) {
      const took = await measure({
        near: () => nearlyRight(OTHER_KEY),
        far: () => newSecret(PREFIX),
      });
      const limit = [...took.near, ...took.far].toSorted((a, b) => a - b)[Math.floor(2 * SAMPLES * CROPPED)]!;
      const [near, far] = [took.near, took.far].map((values) => values.filter((value) => value <= limit));
      found = welch(near!, far!);
      t.diagnostic(
        `t = ${found.toFixed(2)} of 2 × ${SAMPLES}; medians ${median(took.near).toFixed(1)} and ${median(took.far).toFixed(1)} µs`,
      );
    }
    assert.ok(Math.abs(found) <= SUSPECT, `t = ${found}, twice`);
  });
});
