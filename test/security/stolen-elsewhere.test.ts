// Stolen keys, configuration, logs and memory: each "cannot" of docs/security.md about them, tried against a running server.
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { createAdministrator } from '../../src/administrators/manage.ts';
import { readSecretKeys } from '../../src/journal/keys/key-file.ts';
import { addToken, sentForReview } from '../support/admin.ts';
import { invited, register } from '../support/applicant.ts';
import { createAccount, signInAs } from '../support/console.ts';
import { freePort } from '../support/free-ports.ts';
import { LIVE_KEY, sharedHarness, startHarness, writeConfiguration } from '../support/harness.ts';
import { PASSWORD } from '../support/password.ts';
import { startServerProcess } from '../support/server-process.ts';
import { FORGED, faultOfForged, isPaymentPage, opened, PATIENT, tablesOf, textsIn, WAYS } from './thief.ts';

/** Of an Ed25519 private key, and what stands before it in PKCS #8 (RFC 8410). */
const SEED_BYTES = 32;
const ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

const wordsOf = (text: string) => textsIn(text.split(/\s+/));

describe('a thief with the keys of a node, and no database', () => {
  const harness = sharedHarness('sqlite', { configuration: PATIENT });
  const keyFile = (name: string) => readFileSync(join(harness.store.storage, name), 'utf8');
  before(async () => {
    await createAccount(harness);
    await harness.create();
  });

  test('opens nothing with the text of either key', async () => {
    const texts = [...wordsOf(keyFile('checkpoint-key.pem')), ...wordsOf(keyFile('secrets.key'))];
    assert.ok(texts.some((text) => text.startsWith('cfs_')));
    assert.deepEqual(await opened(harness, texts), []);
  });
});

describe('a thief with secrets.key and the database', () => {
  test('signs no checkpoint with anything that stands in them, as the checkpoint key does', async () => {
    const harness = await startHarness('sqlite', { configuration: PATIENT });
    try {
      await createAccount(harness);
      await harness.create();
      const query = <R>(sql: string) => harness.service.database.query(sql) as Promise<R[]>;
      const rows = await tablesOf(query, 'sqlite');
      await harness.stop(); // signs a checkpoint
      const read = (name: string) => readFileSync(join(harness.store.storage, name), 'utf8');
      assert.equal(faultOfForged(harness, createPrivateKey(read('checkpoint-key.pem'))), undefined);
      const place = { storage: harness.store.storage, secrets_key_file: null, secrets_keys: null };
      const seeds = [
        ...readSecretKeys(place).map(({ bytes }) => Buffer.from(bytes)),
        ...[...wordsOf(read('secrets.key')), ...textsIn(rows.values())].flatMap((text) =>
          (['hex', 'base64url'] as const).map((form) => Buffer.from(text, form)),
        ),
      ].filter(({ length }) => length >= SEED_BYTES);
      assert.ok(seeds.length > 10, `${seeds.length} seeds`);
      for (const seed of seeds)
        for (const part of [seed.subarray(0, SEED_BYTES), seed.subarray(-SEED_BYTES)]) {
          const der = Buffer.concat([ED25519, part]);
          const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
          assert.equal(faultOfForged(harness, key), FORGED);
        }
    } finally {
      await harness.store.drop();
    }
  });
});

describe('a thief with the configuration', () => {
  test('is not signed in to the console, and sets nobody up, while an administrator with the same service is and does', async () => {
    await using harness = await startHarness('sqlite', { configuration: PATIENT });
    const { client } = await signInAs(harness, await createAccount(harness));
    const wanted = { email: 'new@example.org', name: 'New', role: 'reviewer' } as const;
    const { link } = await harness.service.journal.commit((transaction) =>
      createAdministrator(transaction, wanted, { actor: 'operator', request_id: null }),
    );
    const { 'as an API key': _, ...ways } = WAYS; // in development the file may hold keys
    const held = [client.cookies.get('counterfoil_session')!, link];
    assert.equal((await opened(harness, held, ways)).length, 2, 'what they hold opens something');
    const texts = wordsOf(readFileSync(join(harness.store.storage, 'counterfoil.yaml'), 'utf8'));
    assert.deepEqual(await opened(harness, texts, ways), []);
  });

  test('has no API key: the digests in it open nothing', async () => {
    await using harness = await startHarness('sqlite', { environment: 'production' });
    const texts = wordsOf(readFileSync(join(harness.store.storage, 'counterfoil.yaml'), 'utf8'));
    assert.ok(texts.some((text) => /^[\w-]{43,64}$/.test(text)));
    const asKey = { 'as an API key': WAYS['as an API key'] };
    assert.deepEqual(await opened(harness, [LIVE_KEY], asKey), [`${LIVE_KEY} as an API key`]);
    assert.deepEqual(await opened(harness, texts), []);
  });
});

describe('a thief with the log', () => {
  test('finds no secret, no link to a payment and nothing that opens anything in it', async () => {
    await using harness = await startHarness('sqlite', { configuration: PATIENT });
    const victim = await createAccount(harness);
    const { client } = await signInAs(harness, victim);
    const { token } = await addToken(harness, victim.administrator.id, 'administrator');
    const invite = await invited(harness);
    const registered = await register(harness, { business_name: 'Quill', email: 'q@example.org', invite });
    const key: string = registered.json.data.api_key;
    const payment = await sentForReview(harness, {}, { key });
    assert.equal(await isPaymentPage(harness, payment), true);
    await harness.request(`/v1/payments/${payment}`, { key });
    await harness.request(`/admin/payments/${payment}`, { key: token });
    await harness.request(`/v1/payments/${payment}/nowhere`, { key });
    await client.get(`/payments/${payment}`);
    await fetch(`${harness.origin}/console/set-up?link=${key}`);
    await harness.stop();
    await harness.start();
    const log = harness.logged.join('');
    assert.ok(log.includes(victim.administrator.id), 'it says who');
    const session = client.cookies.get('counterfoil_session')!.split('.')[0]!;
    for (const secret of [key, token, invite, session, payment, PASSWORD, victim.totpSecret])
      assert.ok(!log.includes(secret), secret);
    const ways = { ...WAYS, 'as a link to a payment': isPaymentPage };
    assert.deepEqual(await opened(harness, textsIn(harness.logged), ways), []);
  });
});

describe('a thief with a copy of the memory of a node', {
  skip: process.platform !== 'linux' && 'memory is read through /proc',
}, () => {
  test('finds no API key, token, password or code that nobody used since its start; only those that were', async () => {
    const harness = await startHarness('sqlite', { configuration: PATIENT });
    const account = await createAccount(harness);
    const { token } = await addToken(harness, account.administrator.id, 'administrator');
    const invite = await invited(harness);
    const registered = await register(harness, { business_name: 'Quill', email: 'q@example.org', invite });
    const key: string = registered.json.data.api_key;
    await harness.stop();
    const config = writeConfiguration(harness.store, 'development', PATIENT);
    const server = await startServerProcess({
      config,
      port: await freePort(),
      storage: harness.store.storage,
    });
    try {
      const unused = [key, token, invite, PASSWORD, account.totpSecret, ...account.recoveryCodes];
      const known = Buffer.from(harness.store.storage);
      assert.deepEqual(inMemory(server.pid, [known, ...unused.map(plain)]), [known]);
      const used = await fetch(`${server.origin}/v1/payments`, {
        headers: { authorization: `Bearer ${key}` },
      });
      assert.equal(used.status, 200);
      assert.deepEqual(
        inMemory(server.pid, unused.map(plain)),
        [plain(key)],
        'what is used passes through it',
      );
    } finally {
      await server.end('SIGTERM');
      await harness.store.drop();
    }
  });
});

/** As a string of these characters stands in memory. */
const plain = (text: string) => Buffer.from(text, 'latin1');

/** Which of some bytes stand in the memory of a process of ours. */
function inMemory(pid: number, wanted: readonly Buffer[]): Buffer[] {
  const longest = Math.max(...wanted.map(({ length }) => length));
  const found = new Set<Buffer>();
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const piece = Buffer.alloc(1024 * 1024);
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from === undefined || to === undefined) continue;
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += piece.length - longest) {
        const bytes = readHere(memory, piece, Math.min(piece.length, end - at), at);
        const seen = piece.subarray(0, bytes);
        for (const one of wanted) if (seen.includes(one)) found.add(one);
      }
    }
  } finally {
    closeSync(memory);
  }
  return wanted.filter((one) => found.has(one));
}

/** How many bytes could be read: some pages of a process cannot. */
function readHere(file: number, into: Buffer, length: number, position: number): number {
  try {
    return readSync(file, into, 0, length, position);
  } catch {
    return 0;
  }
}
