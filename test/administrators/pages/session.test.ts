// Sessions of the console: what their cookie may do, when they end, and that no secret outlives a sign-in.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hmac, sha256 } from '../../../src/lib/secrets.ts';
import {
  codeOf,
  createAccount,
  formOf,
  MANY_SIGN_INS,
  newClient,
  signIn,
  signInAs,
} from '../../support/console.ts';
import { sharedHarness, startHarness } from '../../support/harness.ts';

const MINUTE_MS = 60_000;

describe('in development, over http', () => {
  const harness = sharedHarness('sqlite', { configuration: MANY_SIGN_INS });

  test('a session ends after a quarter of an hour without a click, and each click moves that on.', async () => {
    const client = await signIn(harness);
    for (let i = 0; i < 3; i++) {
      harness.clock.advance(14 * MINUTE_MS);
      const page = await client.get('/account');
      assert.equal(page.h1, 'Your account');
      assert.match(page.headers.get('set-cookie')!, /^counterfoil_session=/);
      assert.equal((await client.get('/account')).headers.get('set-cookie'), null, 'at most once a minute');
    }
    harness.clock.advance(16 * MINUTE_MS);
    assert.equal((await client.get('/account')).h1, 'Sign in');
  });

  test('nobody makes an old cookie young: neither what it holds nor what the store holds is enough to seal it anew.', async () => {
    await using harness = await startHarness('sqlite');
    harness.clock.stop();
    const client = await signIn(harness);
    const value = client.cookies.get('counterfoil_session')!;
    const [secret, seen, seal] = value.split('.') as [string, string, string];
    const sql = 'select salt from sessions where digest = ?';
    const [row] = await harness.service.database.query<{ salt: string }>(sql, sha256(secret));
    const later = Number(seen) + 60;
    const shows = async (cookie: string) => {
      client.cookies.set('counterfoil_session', cookie);
      return (await client.get('/account')).h1;
    };
    for (const forged of [
      `${secret}.${later}.${seal}`,
      ...[secret, sha256(secret), row!.salt].map(
        (key) => `${secret}.${later}.${hmac(key, `seen ${secret} ${later}`)}`,
      ),
      `${value.startsWith('T') ? 'U' : 'T'}${value.slice(1)}`,
      value.slice(0, -1),
      secret,
      '',
      `${value}.`,
    ])
      assert.equal(await shows(forged), 'Sign in', forged);
    assert.equal(await shows(value), 'Your account');
    harness.clock.advance(-62_000);
    assert.equal(await shows(value), 'Sign in', 'a moment that is yet to come');
  });

  test('a page says in how many seconds to warn of the end; asking for it is no use of the session, and staying signed in is.', async () => {
    const client = await signIn(harness);
    const ask = async () => Number((await client.get('/session/left')).text);
    const [, left] = /data-left="(\d+)"/.exec((await client.get('/account')).text)!;
    assert.ok(Number(left) <= 13 * 60);
    harness.clock.advance(10 * MINUTE_MS);
    await ask();
    assert.ok((await ask()) <= 3 * 60, 'asking is no use');
    harness.clock.advance(4 * MINUTE_MS);
    assert.equal(await ask(), 0);
    assert.equal((await client.get('/session')).h1, 'You stay signed in');
    assert.ok((await ask()) > 3 * 60);
    for (let i = 0; i < 33; i++) {
      harness.clock.advance(14 * MINUTE_MS);
      await client.get('/account');
    }
    assert.match((await client.get('/account')).text, /class="ending is-final"/, 'use makes it no longer');
  });

  test('the console speaks the language that was chosen, else the browser’s, else English.', async () => {
    const client = await signIn(harness);
    const german = { headers: { 'accept-language': 'fr-CH, de;q=0.8' } };
    assert.equal((await client.get('/', german)).h1, 'Start');
    assert.equal((await client.get('/', { headers: { 'accept-language': 'fr' } })).h1, 'Home');
    const chosen = await client.get('/account?lang=de');
    assert.match(chosen.text, /<html lang="de" dir="ltr"/);
    assert.equal((await client.get('/')).h1, 'Start');
    assert.equal((await client.get('/account?lang=en')).h1, 'Your account');
    assert.equal((await client.get('/', german)).h1, 'Home');
  });

  test('each sign-in has a secret of its own, and none that was there before it counts.', async () => {
    const account = await createAccount(harness);
    const client = newClient(harness);
    const planted = `${'A'.repeat(43)}.1.${'A'.repeat(43)}`;
    client.cookies.set('counterfoil_session', planted);
    assert.equal((await client.get('/account')).h1, 'Sign in');
    await signInAs(harness, account, client);
    const first = client.cookies.get('counterfoil_session')!;
    assert.notEqual(first, planted);
    harness.clock.advance(20 * MINUTE_MS);
    await signInAs(harness, account, client);
    const sql = 'select id from sessions where administrator_id = ? and ended_at is null';
    const open = async () => (await harness.service.database.query(sql, account.administrator.id)).length;
    assert.equal(await open(), 2, 'the one from setting up, and the last: that before it is over');
    harness.clock.advance(20 * MINUTE_MS);
    await signInAs(harness, await createAccount(harness, 'reviewer'), client);
    assert.equal(await open(), 1, 'whoever signs in with the same browser');
    harness.clock.advance(30_000);
    const { client: other } = await signInAs(harness, account);
    assert.notEqual(other.cookies.get('counterfoil_session')!.split('.')[0], first.split('.')[0]);
  });
});

test('in production, over https, its cookies are bound to this host, to https and to our own pages.', async () => {
  await using harness = await startHarness('sqlite', { environment: 'production' });
  const account = await createAccount(harness);
  const client = newClient(harness);
  const lines: string[] = [];
  const form = await client.get('/sign-in');
  lines.push(...form.headers.getSetCookie());
  const { action, values } = formOf(form);
  const { email, password } = account;
  const typed = { ...values, email, password, code: codeOf(harness, account) };
  const entered = await client.post(action, typed, { follow: false });
  lines.push(...entered.headers.getSetCookie());
  assert.equal(entered.headers.get('location'), '/api/console#main');
  assert.equal(lines.length, 3);
  const names = ['__Host-counterfoil_form', '__Host-counterfoil_session', '__Host-counterfoil_device'];
  const ends = ['', '', '; Max-Age=15552000'];
  for (const [i, line] of lines.entries())
    assert.match(
      line,
      new RegExp(`^${names[i]}=[^;]+; Path=/; HttpOnly; SameSite=Strict; Secure${ends[i]}$`),
    );
  const alone = newClient(harness);
  alone.cookies.set(names[2]!, client.cookies.get(names[2]!)!);
  assert.equal((await alone.get('/account')).h1, 'Sign in', 'a known browser has no rights');
  const shown = await client.get('/account');
  assert.equal(shown.h1, 'Your account');
  assert.match(shown.text, /data-keys/);
  for (const choice of ['keys=off', 'theme=dark']) {
    const chosen = await client.get(`/account?${choice}`, { follow: false });
    const bound = `__Host-counterfoil_${choice}; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=31536000`;
    assert.ok(chosen.headers.getSetCookie().includes(bound), choice);
  }
  const { text } = await client.get('/account');
  assert.doesNotMatch(text, /data-keys/);
  assert.match(text, /data-theme="dark"/);
  assert.equal(entered.headers.get('strict-transport-security'), 'max-age=63072000; includeSubDomains');
});
