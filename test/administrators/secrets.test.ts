// The pieces that signing in is made of: passwords, codes of an app, recovery codes, cookies, the place of passkeys.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passkeyPlace } from '../../src/administrators/passkey.ts';
import {
  hashPassword,
  inTurn,
  isGuessable,
  isRightPassword,
  passwordFault,
  type Turn,
  weakness,
} from '../../src/administrators/password.ts';
import { codesLeft, newRecoveryCodes, spend } from '../../src/administrators/recovery-codes.ts';
import { acceptedStep, newTotp, totpUri } from '../../src/administrators/totp.ts';
import { sha256 } from '../../src/lib/secrets.ts';

/** The secret of RFC 6238, appendix B, in base 32. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test('a password is 15 to 128 characters, as they are counted by eye', () => {
  const fault = (password: string) => passwordFault(password, 'ana.maria@example.org');
  assert.equal(fault('abcdefghijklmn'), 'Must be at least 15 characters.');
  assert.equal(fault('🐎🔋📎abcdefghijkl'), undefined);
  assert.equal(fault('abcdefgh'.repeat(16)), undefined);
  assert.equal(fault(`${'abcdefgh'.repeat(16)}i`), 'Must be at most 128 characters.');
  assert.equal(fault('abcdefghijklmn\ud800'), 'Must be well-formed Unicode.');
  assert.equal(fault('Ana.Maria@example.org '), 'Must not be your email address.');
  assert.equal(fault('abcdabcdabcdabcd'), 'Must not repeat the same few characters.');
});

test('what is kept of a password is argon2id at 64 MiB and three passes, salted, and tells it from others', async () => {
  const [one, two] = await Promise.all([
    hashPassword('one long password'),
    hashPassword('one long password'),
  ]);
  assert.match(one!, /^\$argon2id\$v=19\$m=65536,t=3,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(one, two);
  assert.equal(await isRightPassword(one!, 'one long password'), true);
  assert.equal(await isRightPassword(one!, 'one long passworD'), false);
  assert.equal(await isRightPassword(null, ''), false);
  await assert.rejects(isRightPassword('plain', 'plain'));
});

const CHEAP = '$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

/** Takes turns that last until they are let go. */
function taking() {
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const taken: Promise<void>[] = [];
  const take = (turn: Turn) => {
    const one = inTurn(turn, () => gate);
    one.catch(() => {});
    taken.push(one);
    return one;
  };
  return { take, letGo, all: () => Promise.allSettled(taken) };
}

test('strangers may fill their own queue and no more: who is known is served meanwhile, and the other way about', async () => {
  for (const [many, places] of [
    [false, 1],
    [true, 2],
  ] as const) {
    const { take, letGo, all } = taking();
    for (let i = 0; i < places + 20; i++) take({ known: many, key: `network ${i}` });
    await assert.rejects(take({ known: many, key: 'one more' }), { code: 'unavailable' });
    const other = isRightPassword(CHEAP, 'a', { known: !many, key: 'somebody' });
    if (!many) assert.equal(await other, false, 'a place is kept for whoever is known');
    letGo();
    assert.equal(await other, false);
    await all();
  }
  assert.equal(await isRightPassword(CHEAP, 'a'), false, 'places are given back');
});

test('a stranger who waits gets the first place that is free, and then the others go on', async () => {
  const order: string[] = [];
  const { take, letGo } = taking();
  const held = [take({ known: true, key: 'a' }), take({ known: true, key: 'b' })];
  const known = [1, 2, 3].map((n) =>
    inTurn({ known: true, key: `k${n}` }, async () => void order.push(`k${n}`)),
  );
  const stranger = inTurn({ known: false, key: 's' }, async () => void order.push('s'));
  letGo();
  await Promise.all([...held, ...known, stranger]);
  assert.deepEqual([order[0], order.length], ['s', 4]);
});

test('one caller has two hashes under way or waiting, known or not', async () => {
  for (const known of [true, false]) {
    const { take, letGo, all } = taking();
    const turn = { known, key: '2001:db8::' };
    take(turn);
    take(turn);
    await assert.rejects(take(turn), { code: 'unavailable' });
    const another = take({ known, key: '2001:db8:1::' });
    letGo();
    await another;
    await all();
    await inTurn(turn, async () => {});
  }
});

test('a password that was leaked, repeats itself, or is hardly more than who and where it is for, is too easily guessed', async () => {
  const about = ['counterfoil', 'ana.maria@example.org', 'Ana Zbrynkhovelda'];
  for (const password of [
    'passwordpassword',
    '123456789012345',
    'qwertyuiopasdfghjkl',
    'administrator123',
    'counterfoilcounterfoil',
    'ana.maria@example.org1',
    'zbrynkhovelda2026',
    'Counterfoil-Ana-2026!',
    'abcdefgh'.repeat(16),
  ])
    assert.equal(await isGuessable(password, about), true, password);
  for (const password of ['violet anchor drifts uphill', 'four words nobody says', 'kX9$vm2Lq8#pTz1w'])
    assert.equal(await isGuessable(password, about), false, password);
  assert.equal(await isGuessable('zbrynkhovelda2026', []), false, 'to others it is not known');
  const ana = { email: 'ana@example.org', name: 'Ana' };
  assert.match((await weakness('passw0rd'.repeat(16), ana))!, /^Must be harder /);
  assert.equal(await weakness('violet anchor drifts uphill', ana), undefined);
});

test('a code of the app is that of RFC 6238, of this step or the one before, never of the next, and later than the last', () => {
  const code = '287082'; // at 59 s: 94287082 of appendix B, its last six digits
  const step = (ms: number, last: number | null = null) => acceptedStep(RFC_SECRET, code, ms, last);
  assert.deepEqual(
    [step(0), step(29_999), step(30_000), step(59_000), step(89_999), step(90_000)],
    [undefined, undefined, 1, 1, 1, undefined],
  );
  assert.deepEqual([step(59_000, 0), step(59_000, 1), step(59_000, 2)], [1, undefined, undefined]);
  for (const typed of [' 287 082', '２８７０８２', '٢٨٧٠٨٢'])
    assert.equal(acceptedStep(RFC_SECRET, typed, 59_000, null), 1, typed);
  for (const wrong of ['287083', '28708', '2870820', ''])
    assert.equal(acceptedStep(RFC_SECRET, wrong, 59_000, null), undefined, wrong);
  for (const secret of ['', 'A'.repeat(31), `${RFC_SECRET}!`, RFC_SECRET.toLowerCase()])
    assert.equal(acceptedStep(secret, code, 59_000, null), undefined, secret);
});

test('a new secret has 160 bits and an address that apps take', () => {
  const { secret, uri } = newTotp('ana@example.org');
  assert.match(secret, /^[A-Z2-7]{32}$/);
  assert.equal(uri, totpUri(secret, 'ana@example.org'));
  const url = new URL(uri);
  assert.equal(`${url.protocol}//${url.host}`, 'otpauth://totp');
  assert.equal(decodeURIComponent(url.pathname), '/Counterfoil:ana@example.org');
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    issuer: 'Counterfoil',
    secret,
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
});

test('ten recovery codes are kept as digests, and each is spent by being used', () => {
  const { codes, digests } = newRecoveryCodes();
  assert.equal(new Set(codes).size, 10);
  for (const code of codes) assert.match(code, /^[0-9a-z]{4}(-[0-9a-z]{4}){5}$/); // 120 bits
  const left = spend(digests, codes[3]!)!;
  assert.equal(codesLeft(left), 9);
  assert.equal(spend(left, codes[3]!), undefined);
  assert.ok(
    spend(left, codes[4]!.toUpperCase().replaceAll('-', '').replaceAll('0', 'O').replaceAll('1', 'l')),
  );
  assert.equal(
    spend(JSON.stringify([sha256('4h2k9x0d4h2k9x0d')]), '4h2k-9x0d-4h2k-9x0d'),
    '[]',
    'a shorter one of before',
  );
  assert.equal(spend(digests, ''), undefined);
  assert.ok(!digests.includes(codes[0]!.slice(0, 4) + codes[0]!.slice(5, 9)));
});

test('passkeys have a place where browsers make them: an https host, or localhost', () => {
  assert.deepEqual(passkeyPlace('https://pay.example/api'), {
    rpId: 'pay.example',
    origin: 'https://pay.example',
  });
  assert.deepEqual(passkeyPlace('http://localhost:8080'), {
    rpId: 'localhost',
    origin: 'http://localhost:8080',
  });
  for (const none of [
    'http://127.0.0.1:8080',
    'https://[::1]:8080',
    'https://192.0.2.1',
    'http://pay.example',
  ])
    assert.equal(passkeyPlace(none), undefined, none);
});
