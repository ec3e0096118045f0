// Everybody's own account: each change asks for the password, ends what it must, and is there at once.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Account,
  type Client,
  codeOf,
  formOf,
  MANY_SIGN_INS,
  newClient,
  signIn,
  signInAs,
} from '../../support/console.ts';
import { sharedHarness } from '../../support/harness.ts';

const NEW_PASSWORD = 'quite another few words';

describe('an account', () => {
  const harness = sharedHarness('sqlite', { configuration: MANY_SIGN_INS });

  /** All that is kept of somebody. */
  const rowOf = ({ administrator }: Account) =>
    harness.service.database.query('select * from administrators where id = ?', administrator.id);

  test('a new password ends every other session and lets its owner go on.', async () => {
    const client = await signIn(harness, 'reviewer');
    harness.clock.advance(30_000);
    const { client: other } = await signInAs(harness, client.account);
    const page = await client.get('/account/password');
    const easy = 'passwordpassword';
    const guessed = { password: easy, 'password-again': easy };
    const wrong = await client.send(page, { ...guessed, 'current-password': 'not the right one' });
    assert.deepEqual(wrong.faults, ['current-password'], 'nothing is told of the new one before');
    const refused = await client.send(page, { ...guessed, 'current-password': client.account.password });
    assert.deepEqual(refused.faults, ['password']);
    const device = client.cookies.get('counterfoil_device');
    const sent = {
      'current-password': client.account.password,
      password: NEW_PASSWORD,
      'password-again': NEW_PASSWORD,
    };
    const changed = await client.send(page, sent);
    assert.equal(changed.url.search, '?done=password');
    assert.notEqual(client.cookies.get('counterfoil_device'), device, 'the old one died with the password');
    assert.equal((await client.get('/account')).h1, 'Your account');
    assert.equal((await other.get('/account')).h1, 'Sign in');
    harness.clock.advance(30_000);
    const { email, password } = client.account;
    const form = await newClient(harness).get('/sign-in');
    const late = await newClient(harness).send(form, {
      email,
      password,
      code: codeOf(harness, client.account),
    });
    assert.notEqual(late.status, 200, 'the old password is good for nothing');
    await signInAs(harness, { ...client.account, password: NEW_PASSWORD });
    await harness.verify();
  });

  test('signing out everywhere else ends the other sessions and says so; nothing is said of what was not done.', async () => {
    const client = await signIn(harness);
    harness.clock.advance(30_000);
    const { client: other } = await signInAs(harness, client.account);
    const page = await client.get((await client.get('/account')).link('Sign out everywhere else'));
    const password = { 'current-password': client.account.password };
    for (const typed of [{}, { 'current-password': 'not the right one' }])
      assert.equal((await client.send(page, typed)).status, 422);
    assert.equal((await other.get('/account')).h1, 'Your account', 'nothing ends without the password');
    const ended = await client.send(page, password);
    assert.equal(ended.url.search, '?done=sessions');
    assert.equal((await other.get('/account')).h1, 'Sign in');
    for (const path of ['/account', '/account/passkeys'])
      for (const done of ['constructor', 'toString', '__proto__', 'x'])
        assert.doesNotMatch((await client.get(`${path}?done=${done}`)).body, /native code|object Object/);
    await harness.verify();
  });

  test('a sixth sign-in ends the oldest session, and the history says why.', async () => {
    const { account, ...first } = await signIn(harness); // the second: setting up began one
    const later: Client[] = [];
    for (let i = 0; i < 4; i++) {
      harness.clock.advance(30_000);
      later.push((await signInAs(harness, account)).client);
    }
    assert.equal((await first.get('/account')).h1, 'Your account', 'five go on beside each other');
    harness.clock.advance(30_000);
    later.push((await signInAs(harness, account)).client);
    assert.equal((await first.get('/account')).h1, 'Sign in');
    for (const client of later) assert.equal((await client.get('/account')).h1, 'Your account');
    const ended = await harness.service.database.query<{ facts: string }>(
      "select facts from audit_entries where action = 'session.ended' and actor = ?",
      `administrator:${account.administrator.id}`,
    );
    assert.deepEqual(
      ended.map(({ facts }) => (JSON.parse(facts) as { reason: string }).reason),
      ['too_many_sessions', 'too_many_sessions'],
    );
    await harness.verify();
  });

  test('an account tells what failed with its address since the sign-in before.', async () => {
    const { account } = await signIn(harness);
    for (const password of ['not the right one', account.password]) {
      const stranger = newClient(harness);
      const typed = { email: account.email, password, code: '000000' };
      assert.equal((await stranger.send(await stranger.get('/sign-in'), typed)).status, 422);
    }
    harness.clock.advance(30_000);
    const { page, client } = await signInAs(harness, account);
    assert.match(page.body, /2 since .*, the newest .*1 of .* with your/);
    await client.send(page, {}, 'Sign out');
    harness.clock.advance(30_000);
    const again = await signInAs(harness, account);
    assert.match(again.page.body, /Failed attempts ?None since/);
  });

  test('every change asks for the password as it is now.', async () => {
    const client = await signIn(harness);
    const before = await rowOf(client.account);
    for (const path of ['/account/password', '/account/authenticator', '/account/recovery-codes']) {
      const page = await client.get(path);
      const { values } = formOf(page);
      const typed = {
        password: NEW_PASSWORD,
        'password-again': NEW_PASSWORD,
        code: codeOf(harness, { totpSecret: values.secret ?? 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }),
      };
      const without = await client.send(page, typed);
      assert.deepEqual([without.status, without.faults], [422, ['current-password']], path);
      const wrong = await client.send(without, { ...typed, 'current-password': 'not the right one' });
      assert.deepEqual([wrong.status, wrong.faults], [422, ['current-password']], path);
    }
    assert.deepEqual(await rowOf(client.account), before);
  });

  test('another app takes the place of the one before, once it has shown a code.', async () => {
    const client = await signIn(harness);
    const page = await client.get('/account/authenticator');
    const totpSecret = formOf(page).values.secret!;
    const device = client.cookies.get('counterfoil_device');
    const password = { 'current-password': client.account.password };
    const wrong = await client.send(page, { ...password, code: '000000' });
    assert.equal(wrong.status, 422);
    assert.equal(formOf(wrong).values.secret, totpSecret);
    const done = await client.send(wrong, { ...password, code: codeOf(harness, { totpSecret }) });
    assert.equal(done.url.search, '?done=totp');
    const another = client.cookies.get('counterfoil_device');
    assert.ok(another && another !== device, 'the old one ended with the app');
    harness.clock.advance(60_000);
    await signInAs(harness, { ...client.account, totpSecret });
  });

  test('the file of codes holds codes and nothing else that a form says.', async () => {
    const client = await signIn(harness);
    await client.get('/account');
    const page = await client.post('/account/recovery-codes/file', { codes: '<script>alert(1)</script>' });
    assert.equal(page.status, 400);
    assert.doesNotMatch(page.text, /alert/);
  });
});
