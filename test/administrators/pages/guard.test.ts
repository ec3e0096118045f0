// The console's one door: who is not signed in learns nothing and loses nothing, who may not is told, and forged forms do nothing.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  type Account,
  type Client,
  codeOf,
  createAccount,
  formOf,
  MANY_SIGN_INS,
  newClient,
  signIn,
} from '../../support/console.ts';
import { FROM_OUR_PAGE } from '../../support/customer.ts';
import { sharedHarness } from '../../support/harness.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const NOBODY = { 'content-type': FORM_TYPE };

const harness = sharedHarness('sqlite', { configuration: `${MANY_SIGN_INS}host: localhost\n` }); // where browsers make passkeys

/** One of each kind, and some that are not there; each route is asked for in `authorisation.test.ts`. */
const PATHS = [
  ...['/', '/account', '/account/passkeys', '/sign-out', '/queue', '/payments/pay_01', '/payments.csv'],
  ...['/payments/pay_01/approve', '/merchants/mer_01/keys/new', '/none', '/payments/pay_none/approve'],
];

describe('nobody signed in', () => {
  test('every address leads to the sign-in page, whether there is a page or not.', async () => {
    for (const path of PATHS) {
      const page = await newClient(harness).get(path, { follow: false });
      assert.equal(page.status, 303, path);
      const to = new URL(page.headers.get('location')!, page.url);
      assert.equal(to.pathname, '/console/sign-in');
      assert.equal(to.searchParams.get('next'), path === '/' || path === '/sign-out' ? null : path);
      assert.equal(page.text, '');
    }
  });

  test('every form is answered by the sign-in page and does nothing.', async () => {
    for (const path of PATHS) {
      const page = await newClient(harness).post(path, { reason: 'other', token: '' });
      assert.equal(page.status, 401, path);
      assert.equal(page.h1, 'Sign in');
      assert.deepEqual(formOf(page).fields.slice(0, 2), ['email', 'password']);
    }
  });

  test('next leads to pages of the console alone.', async () => {
    const account = await createAccount(harness);
    const strange = [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example',
      '/%2F/evil.example',
      '/../health',
      '/./../health',
      '/a/../../health',
      '/sign-out',
      '/\tqueue',
      '/queue#x',
      'javascript:alert(1)',
      `/${'a'.repeat(3000)}`,
    ];
    for (const next of strange) {
      const client = newClient(harness);
      const form = await client.get(`/sign-in?next=${encodeURIComponent(next)}`);
      assert.equal(form.status, 200, next);
      assert.equal('next' in formOf(form).values, false, next);
    }
    const client = newClient(harness);
    const form = await client.get('/sign-in');
    const { action, values } = formOf(form);
    const { email, password } = account;
    const sent = {
      ...values,
      email,
      password,
      code: codeOf(harness, account),
      next: 'https://evil.example/',
    };
    const entered = await client.post(action, sent, { follow: false });
    assert.equal(entered.status, 303);
    assert.equal(entered.headers.get('location'), '/console#main');
  });
});

describe('a form whose sender is not signed in any more', () => {
  const TYPED = { name: 'Phone & "tablet" <of mine>', 'current-password': 'never carried along' };

  /** Somebody whose session ended while they typed, with the page they sent. */
  async function lapsed(): Promise<{
    account: Account;
    client: Client;
    page: Awaited<ReturnType<Client['get']>>;
  }> {
    const { account, ...client } = await signIn(harness);
    await client.get('/account/passkeys');
    harness.clock.advance(16 * 60_000);
    const page = await client.post('/account/passkeys?from=here', TYPED);
    return { account, client, page };
  }

  test('is carried through the sign-in, and stands on its page again to be sent.', async () => {
    const { account, client, page } = await lapsed();
    assert.equal(page.status, 401);
    const carried = Buffer.from(formOf(page).values.draft!, 'base64url').toString();
    assert.ok(carried.includes('tablet') && !carried.includes('never carried along'), carried);
    assert.equal(page.url.search, '?from=here');
    const { email, password } = account;
    const wrong = await client.send(page, { email, password: 'not the right one', code: '000000' });
    assert.equal(wrong.status, 422);
    const there = await client.send(wrong, { email, password, code: codeOf(harness, account) });
    assert.equal(there.status, 200);
    assert.equal(there.h1, 'Your passkeys');
    const draft = there.forms.find(({ fields }) => fields.includes('name')) ?? assert.fail(there.body);
    assert.equal(draft.values.name, TYPED.name);
    assert.equal(draft.values['current-password'], '');
    const sent = await client.post(draft.action, draft.values);
    assert.deepEqual(
      sent.faults,
      ['current-password'],
      'its token is good: what is left to do is its own affair',
    );
  });

  test('is told to be lost where it is too long to carry.', async () => {
    const { client } = await lapsed();
    const page = await client.post('/account/passkeys', { name: 'x'.repeat(25_000) });
    assert.equal(page.status, 401);
    assert.equal('draft' in formOf(page).values, false);
  });

  test('comes to nothing worse than the sign-in page where the draft is made up.', async () => {
    const { account, client, page } = await lapsed();
    const { email, password } = account;
    for (const draft of ['', 'x', 'bnVsbA', Buffer.from('[["a",1]]').toString('base64url')]) {
      harness.clock.advance(30_000);
      client.cookies.delete('counterfoil_session');
      const there = await client.send(page, { email, password, code: codeOf(harness, account), draft });
      assert.equal(there.h1, 'Your passkeys', there.body);
    }
  });
});

describe('somebody signed in', () => {
  let client: Client & { account: Account };
  before(async () => {
    client = await signIn(harness, 'auditor');
  });

  test('gets a page that says there is none at an unknown address.', async () => {
    for (const path of ['/none', '/account/none', '/ACCOUNT', '/account/']) {
      const page = await client.get(path);
      assert.equal(page.status, 404, path);
      assert.equal(page.h1, 'There is no such page');
    }
  });

  test('is led to the page of a form whose address they open.', async () => {
    const page = await client.get('/account/recovery-codes/file', { follow: false });
    assert.equal(page.status, 303);
    assert.equal(page.headers.get('location'), '/console/account/recovery-codes');
  });

  test('is told where a page is not for their role, and nothing is done.', async () => {
    for (const path of ['/payments/pay_01/approve', '/statements/paste', '/merchants/mer_01/suspend'])
      for (const page of [await client.get(path), await client.post(path)]) {
        assert.equal(page.status, 403, path);
        assert.equal(page.h1, 'Your role does not allow this');
      }
  });

  const FORGED: [name: string, status: number, headers: Record<string, string>, token?: string][] = [
    ['another site', 403, { ...NOBODY, 'sec-fetch-site': 'cross-site' }],
    ['another host of our site', 403, { ...NOBODY, 'sec-fetch-site': 'same-site' }],
    ['an address typed by hand', 403, { ...NOBODY, 'sec-fetch-site': 'none' }],
    ['another origin, in an older browser', 403, { ...NOBODY, origin: 'https://evil.example' }],
    ['an origin that is not told', 403, { ...NOBODY, origin: 'null' }],
    ['a program that tells neither', 403, NOBODY],
    ['no token', 403, { ...NOBODY, ...FROM_OUR_PAGE }, ''],
    ['a made-up token', 403, { ...NOBODY, ...FROM_OUR_PAGE }, 'A'.repeat(43)],
    ['a body that is no form', 415, { ...FROM_OUR_PAGE, 'content-type': 'application/json' }],
    ['a body of parts', 415, { ...FROM_OUR_PAGE, 'content-type': 'multipart/form-data; boundary=x' }],
  ];
  for (const [name, status, headers, token] of FORGED)
    test(`a form from ${name} does nothing.`, async () => {
      const page = await client.get('/account');
      const right = page.forms[0]!.values.token!;
      const cookie = [...client.cookies].map(([one, value]) => `${one}=${value}`).join('; ');
      const response = await fetch(`${harness.origin}/console/account/sessions`, {
        method: 'POST',
        redirect: 'manual',
        headers: { ...headers, cookie },
        body: new URLSearchParams({ token: token ?? right }).toString(),
      });
      assert.equal(response.status, status);
      assert.match(response.headers.get('content-type')!, /^text\/html/);
    });

  test('a form with the token of an older session is shown again, filled in.', async () => {
    const page = await client.post('/account/passkeys', { token: 'A'.repeat(43), name: 'Phone' });
    assert.equal(page.status, 403);
    assert.equal(page.forms.find(({ fields }) => fields.includes('name'))?.values.name, 'Phone');
  });

  test('a form in an older browser counts where its origin is ours.', async () => {
    const page = await client.get('/account');
    const { origin } = new URL(harness.service.baseUrl);
    const cookie = [...client.cookies].map(([one, value]) => `${one}=${value}`).join('; ');
    const response = await fetch(`${harness.origin}/console/account/sessions`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': FORM_TYPE, origin, cookie },
      body: new URLSearchParams({ token: page.forms[0]!.values.token! }).toString(),
    });
    assert.equal(response.status, 422, 'it was read: it lacks the password');
  });

  test('a form beyond 32 KiB or not in UTF-8 is refused with a page.', async () => {
    const long = await client.post('/account/passkeys', { name: 'x'.repeat(33 * 1024) });
    assert.equal(long.status, 413);
    assert.equal(long.h1, 'This cannot be done');
    const headers = { 'content-type': FORM_TYPE, ...FROM_OUR_PAGE };
    const body = Buffer.from('name=\xff', 'latin1');
    const response = await fetch(`${harness.origin}/console/account`, { method: 'POST', headers, body });
    assert.equal(response.status, 400);
  });
});

test('every page is sent with a policy that runs our script alone, and none is kept.', async () => {
  const client = await signIn(harness);
  const nonces = new Set<string>();
  for (const page of [
    await newClient(harness).get('/sign-in'),
    await client.get('/account'),
    await client.get('/none'),
  ]) {
    const policy = page.headers.get('content-security-policy')!;
    const nonce = /script-src 'nonce-([\w-]{22})' 'strict-dynamic'/.exec(policy)![1]!;
    nonces.add(nonce);
    assert.doesNotMatch(policy, /unsafe/);
    assert.match(policy, /require-trusted-types-for 'script'; trusted-types 'none'/);
    assert.equal(page.headers.get('cache-control'), 'no-store');
    const scripts = [...page.text.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
    assert.equal(scripts.length, 1);
    assert.ok(scripts[0]!.includes(`nonce="${nonce}"`));
    const source = /src="([^"]+)"/.exec(scripts[0]!)![1]!;
    const script = await fetch(new URL(source, page.url));
    assert.equal(script.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.match(script.headers.get('content-type')!, /^text\/javascript/);
    assert.ok((await script.arrayBuffer()).byteLength <= 20 * 1024);
    assert.doesNotMatch(page.text, / on[a-z]+="| style="/);
  }
  assert.equal(nonces.size, 3);
});

test('light, dark and keys are chosen by links, without a script.', async () => {
  const client = await signIn(harness);
  const page = await client.get(new URL('?done=password&theme=dark', `${harness.origin}/console/account`));
  assert.equal(page.url.search, '?done=password');
  assert.match(page.text, /<html lang="en" dir="ltr" data-theme="dark">/);
  assert.match(page.text, /data-keys/);
  const off = await client.get(page.link('Switch them off'));
  assert.doesNotMatch(off.text, /data-keys/);
  assert.match((await client.get(off.link('Switch them on'))).text, /data-keys/);
});

test('a choice of light or dark, or of the language, is kept before the sign-in too.', async () => {
  const client = newClient(harness);
  await client.get('/sign-in?next=/queue&theme=dark');
  const page = await client.get('/sign-in?next=/queue&lang=de');
  assert.equal(page.url.search, '?next=%2Fqueue');
  assert.match(page.text, /<html lang="de" dir="ltr" data-theme="dark">/);
});
