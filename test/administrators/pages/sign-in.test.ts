// Signing in and out of the console: one form, one message for whatever is wrong, and never more tries than are allowed.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type Account,
  type Client,
  codeOf,
  createAccount,
  formOf,
  MANY_SIGN_INS,
  newClient,
  signIn,
  signInAs,
} from '../../support/console.ts';
import { type Harness, sharedHarness, startHarness } from '../../support/harness.ts';
import { addPasskey, type Passkey } from '../../support/passkey.ts';

const WRONG = 'Email address, password, code or passkey is wrong';

describe('signing in', () => {
  const harness = sharedHarness('sqlite', { configuration: MANY_SIGN_INS });

  test('a password and a code lead to the page that was asked for.', async () => {
    const account = await createAccount(harness, 'reviewer', 'Rita Reviewer');
    const client = newClient(harness);
    const asked = await client.get('/account?done=sessions');
    assert.equal(asked.h1, 'Sign in');
    const page = await client.send(asked, {
      email: ` ${account.email.toUpperCase()}`,
      password: account.password,
      code: codeOf(harness, account),
    });
    assert.equal(page.h1, 'Your account');
    assert.equal(page.url.search, '?done=sessions');
    assert.match(page.body, /Rita Reviewer/);
    await harness.verify();
  });

  test('whatever is wrong is told in the same words.', async () => {
    const { email, password } = await createAccount(harness);
    const texts: string[] = [];
    for (const [typed, secret, code] of [
      [email, 'not the right one', '000000'],
      [email, password, '00000 0'],
      ['nobody@example.org', password, '000000'],
    ] as const) {
      const client = newClient(harness);
      const page = await client.send(await client.get('/sign-in?next=/account'), {
        email: typed,
        password: secret,
        code,
      });
      assert.equal(page.status, 422);
      assert.equal(page.title, 'Error: Sign in – Counterfoil');
      assert.equal(page.text.split(WRONG).length - 1, 4, 'in the summary once, and at each field');
      assert.equal(page.forms[0]!.values.password, '');
      texts.push(
        page.text
          .replaceAll(typed, '')
          .replaceAll(/nonce="[^"]+"|value="[\w-]{43}"|name="expires" value="\d+"|data-options="[^"]+"/g, ''),
      );
    }
    assert.equal(new Set(texts).size, 1);
  });

  test('what is missing is asked for, at its field.', async () => {
    const client = newClient(harness);
    const page = await client.send(await client.get('/sign-in?next=/account'), { email: '', password: '' });
    assert.deepEqual(page.faults, ['email', 'password', 'code']);
    const account = await createAccount(harness);
    const { email, password } = account;
    const wrong = await client.send(page, { email, password, 'recovery-code': 'x' });
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /id="recovery-code-error"/);
    // A recovery code is taken in the field of the app's code as well.
    const right = await client.send(wrong, { email, password, code: account.recoveryCodes[0]! });
    assert.equal(right.h1, 'Your account', right.body);
  });

  test('after five failures it says until when, and does not look at the password.', async () => {
    const account = await createAccount(harness);
    const client = newClient(harness);
    for (let i = 0; i < 5; i++) {
      const page = await client.send(await client.get('/sign-in?next=/account'), {
        email: account.email,
        password: 'wrong wrong wrong',
        code: '000000',
      });
      assert.equal(page.status, 422);
    }
    const page = await client.send(await client.get('/sign-in?next=/account'), {
      email: account.email,
      password: account.password,
      code: codeOf(harness, account),
    });
    assert.equal(page.status, 429);
    assert.match(page.body, /Too many .* at \d\d:\d\d/);
    const waitS = Number(page.headers.get('retry-after'));
    assert.ok(waitS > 800 && waitS <= 900, `${waitS} s`);
    harness.clock.advance(waitS * 1000);
    await signInAs(harness, account);
  });

  test('signing out ends the session in the database and empties what the browser keeps.', async () => {
    const client = await signIn(harness);
    const kept = new Map(client.cookies);
    harness.clock.advance(30_000);
    const { client: other } = await signInAs(harness, client.account);
    const account = await client.get('/account');
    const signOut = account.forms.find(({ button }) => button === 'Sign out')!;
    const left = await client.post(signOut.action, signOut.values, { follow: false });
    assert.equal(left.status, 303);
    assert.equal(left.headers.get('clear-site-data'), '"cache", "storage"');
    assert.equal(client.cookies.has('counterfoil_session'), false);
    assert.ok(client.cookies.has('counterfoil_device'), 'the browser is still known');
    for (const [name, value] of kept) client.cookies.set(name, value);
    assert.equal((await client.get('/account')).h1, 'Sign in');
    assert.equal((await other.get('/account')).h1, 'Your account', 'no other session');
  });
});

describe('who is counted with whom', () => {
  let harness: Harness;
  const FORMS = 6;
  before(async () => {
    const configuration = `sign_in_forms_per_address: ${FORMS}\ntrust_proxy: [127.0.0.1, '::1']\n`;
    harness = await startHarness('sqlite', { configuration });
  });
  after(() => harness.close());

  /** Sends the empty form from an address, as often as told. */
  const fill = async (ip: string, times: number) => {
    const client = newClient(harness);
    const { action, values } = formOf(await client.get('/sign-in?next=/account'));
    const statuses: number[] = [];
    for (let i = 0; i < times; i++)
      statuses.push((await client.post(action, values, { headers: { 'x-forwarded-for': ip } })).status);
    return statuses.filter((status) => status === 422).length;
  };

  test('a whole allocation of IPv6 may send four times as much as one network in it, not 65,536 times.', async () => {
    let taken = 0;
    for (let i = 0; i < 6; i++) taken += await fill(`2001:db8:1:${i}::1`, FORMS + 1);
    // Every form that one network may not send is not counted for the allocation.
    assert.equal(taken, FORMS * 4);
    assert.equal(await fill('2001:db8:2::1', 1), 1, 'another allocation is not touched by it');
  });

  test('a browser that somebody has signed in with is not kept out by others of its network.', async () => {
    const account = await createAccount(harness);
    const from = { headers: { 'x-forwarded-for': '192.0.2.7' } };
    const enter = async (client: Client) => {
      const page = await client.get('/sign-in?next=/account');
      const { email, password } = account;
      const typed = { email, password, code: codeOf(harness, account) };
      return client.post('/sign-in', { ...formOf(page).values, ...typed }, from);
    };
    const client = newClient(harness);
    assert.equal((await enter(client)).h1, 'Your account');
    await fill('192.0.2.7', FORMS);
    for (const stranger of [newClient(harness), newClient(harness)]) {
      if (stranger.cookies.size === 0)
        stranger.cookies.set('counterfoil_device', `${account.administrator.id}.x`);
      assert.equal((await enter(stranger)).status, 429);
    }
    client.cookies.delete('counterfoil_session');
    harness.clock.advance(30_000);
    assert.equal((await enter(client)).h1, 'Your account');
    for (let i = 0; i < FORMS; i++) {
      client.cookies.delete('counterfoil_session');
      await client.post('/sign-in', formOf(await client.get('/sign-in')).values, from);
    }
    client.cookies.delete('counterfoil_session');
    assert.equal((await enter(client)).status, 429, 'but by itself it is');
  });
});

describe('a network whose forms are used up', () => {
  const FORMS = 2;
  const STRONG_FORMS = 50 * FORMS;
  let harness: Harness;
  let account: Account;
  let passkey: Passkey;
  before(async () => {
    // Browsers make passkeys at a name.
    const configuration = `host: localhost\nsign_in_forms_per_address: ${FORMS}\n`;
    harness = await startHarness('sqlite', { configuration });
    const owner = await signIn(harness);
    account = owner.account;
    passkey = await addPasskey(harness, owner);
  });
  after(() => harness.close());

  /** A browser of the same network that nobody signed in with, and its sign-in page, after all forms without a strong factor. */
  const usedUp = async () => {
    harness.clock.advance(15 * 60_000);
    const client = newClient(harness);
    const form = await client.get('/sign-in?next=/account');
    for (let i = 0; i < FORMS; i++) assert.equal((await client.send(form)).status, 422);
    const { email, password } = account;
    const busy = await client.send(form, { email, password, code: codeOf(harness, account) });
    assert.equal(busy.status, 429);
    assert.match(busy.body, /need not wait[\s\S]*Too many/);
    return { client, busy };
  };

  test('lets in a new browser with a recovery code', async () => {
    const { client, busy } = await usedUp();
    const { password, recoveryCodes } = account;
    const page = await client.send(busy, { password, 'recovery-code': recoveryCodes[0]! });
    assert.equal(page.h1, 'Your account', page.body);
  });

  test('lets in a new browser with a passkey', async () => {
    const { client, busy } = await usedUp();
    const page = await client.send(busy, { password: account.password, credential: passkey.sign(busy) });
    assert.equal(page.h1, 'Your account', page.body);
  });

  test('sends no more forms to set-up, whatever is in them', async () => {
    const { client, busy } = await usedUp();
    const strong = { credential: '{}', 'recovery-code': 'x', link: 'x' };
    assert.equal((await client.post('/set-up', { ...formOf(busy).values, ...strong })).status, 429);
  });

  test('has a limit of forms with a recovery code or a passkey as well, of both together', async () => {
    const { client, busy } = await usedUp();
    const guess = { ...formOf(busy).values, email: account.email, password: 'x' };
    for (let i = 0; i < STRONG_FORMS; i++) {
      const factor = i % 2 === 0 ? { credential: '{}' } : { 'recovery-code': 'x' };
      assert.equal((await client.post('/sign-in', { ...guess, ...factor })).status, 422, `form ${i + 1}`);
    }
    assert.equal((await client.post('/sign-in', { ...guess, credential: '{}' })).status, 429);
    assert.equal((await client.post('/sign-in', { ...guess, 'recovery-code': 'x' })).status, 429);
  });
});

test('one network address may send twenty forms in a quarter of an hour, and is told when it may go on.', async () => {
  await using harness = await startHarness('sqlite');
  const client = newClient(harness);
  const form = await client.get('/sign-in?next=/account');
  for (let i = 0; i < 20; i++) assert.equal((await client.send(form)).status, 422);
  const page = await client.send(form);
  assert.equal(page.status, 429);
  assert.ok(Number(page.headers.get('retry-after')) > 0);
  assert.equal((await client.get('/sign-in')).status, 200);
});
