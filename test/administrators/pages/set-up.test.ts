// Setting up an account by a link: once, in half an hour, with a password, a second factor that was proved, and codes to keep.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { codeOf, invite, MANY_SIGN_INS, newClient } from '../../support/console.ts';
import { sharedHarness } from '../../support/harness.ts';

const PASSWORD = 'four words nobody says';

describe('setting up', () => {
  const harness = sharedHarness('sqlite', { configuration: MANY_SIGN_INS });

  const newLink = () => invite(harness, 'reviewer', 'Nina <New>');

  test('a link leads through password and app to ten codes and a session.', async () => {
    const { email, path } = await newLink();
    const client = newClient(harness);
    const page = await client.get(path);
    assert.equal(page.h1, 'Set up your account');
    assert.match(
      page.body,
      /Welcome, Nina <New>\. You sign in as reviewer-\d+@example\.org\. Your role: reviewer\./,
    );
    const totpSecret = page.forms[0]!.values.secret!;
    assert.ok(
      page.body.includes(totpSecret.replaceAll(/.{4}(?!$)/g, '$& ')),
      'the key stands there in groups',
    );
    assert.match(
      page.text,
      /<svg class="qr"[^>]* role="img" aria-label="QR code for your authenticator app"[^>]*><path fill="#fff" d="[^"]+"\/><path stroke="#000" d="M/,
    );
    const code = codeOf(harness, { totpSecret });
    const done = await client.send(page, { password: PASSWORD, 'password-again': PASSWORD, code });
    assert.equal(done.h1, 'Your recovery codes');
    const codes = [...done.text.matchAll(/<li><span[^>]*>([0-9a-z-]{29})</g)].map(([, one]) => one!);
    assert.equal(new Set(codes).size, 10);

    const file = await client.send(done, {}, 'Save them as a file');
    assert.match(
      file.headers.get('content-disposition')!,
      /^attachment; filename="counterfoil-recovery-codes\.txt"$/,
    );
    assert.equal(file.text.split('\r\n').slice(2, 12).join(' '), codes.join(' '));

    assert.match((await client.get('/account')).body, /Nina <New>.*reviewer.*10 left/);
    assert.equal((await newClient(harness).get(path)).status, 404, 'the link works once');

    const again = newClient(harness);
    const typed = { email, password: PASSWORD, 'recovery-code': codes[0]! };
    const entered = await again.send(await again.get('/sign-in?next=/account'), typed);
    assert.match(entered.body, /9 left/);
    await harness.verify();
  });

  test('what is wrong is told at its field, and the key stays the same.', async () => {
    const { email, path } = await newLink();
    const client = newClient(harness);
    let page = await client.get(path);
    const totpSecret = page.forms[0]!.values.secret!;
    assert.equal((await client.get(path)).forms[0]!.values.secret, totpSecret, 'the link read again');
    assert.equal((await newClient(harness).get(path)).forms[0]!.values.secret, totpSecret, 'elsewhere');
    const other = await newLink();
    assert.notEqual((await client.get(other.path)).forms[0]!.values.secret, totpSecret);
    const cases: [typed: Record<string, string>, field: string, told: RegExp][] = [
      [{}, 'password', /Enter a new password/],
      [{ password: 'too short' }, 'password', /at least 15 characters/],
      [{ password: 'x'.repeat(129) }, 'password', /at most 128 characters/],
      [{ password: email }, 'password', /not be your email address/],
      [
        {
          password: 'counterfoilcounterfoil',
          'password-again': 'counterfoilcounterfoil',
          code: codeOf(harness, { totpSecret }),
        },
        'password',
        /The password must be harder to guess/,
      ],
      [
        { password: PASSWORD, 'password-again': `${PASSWORD}!` },
        'password-again',
        /Enter the same password twice/,
      ],
      [
        { password: PASSWORD, 'password-again': PASSWORD },
        'code',
        /Enter the code that your authenticator app shows/,
      ],
      [
        { password: PASSWORD, 'password-again': PASSWORD, code: '000000' },
        'code',
        /not the code that the app shows now/,
      ],
    ];
    for (const [typed, field, told] of cases) {
      page = await client.send(page, typed);
      assert.equal(page.status, 422);
      assert.equal(page.title, 'Error: Set up your account – Counterfoil');
      assert.match(page.body, told);
      assert.ok(page.faults.includes(field), field);
      assert.equal(page.forms[0]!.values.secret, totpSecret);
      assert.equal(page.forms[0]!.values.password, '');
    }
    const code = codeOf(harness, { totpSecret });
    const done = await client.send(page, { password: PASSWORD, 'password-again': PASSWORD, code });
    assert.equal(done.status, 200);
  });

  test('a link that is wrong, used or too old says how to get another.', async () => {
    const { path } = await newLink();
    const page = await newClient(harness).get(path);
    assert.equal(page.status, 200);
    harness.clock.advance(30 * 60_000);
    const texts: string[] = [];
    for (const one of [path, '/set-up', '/set-up?link=', `/set-up?link=${'A'.repeat(49)}`]) {
      const used = await newClient(harness).get(one);
      assert.equal(used.status, 404);
      assert.match(used.body, /counterfoil administrators reset/);
      texts.push(used.text.replaceAll(/nonce="[^"]+"/g, ''));
    }
    assert.equal(new Set(texts).size, 1);
  });

  test('a form without the cookie of its page does nothing and asks again.', async () => {
    const { path } = await newLink();
    const client = newClient(harness);
    const page = await client.get(path);
    client.cookies.clear();
    const totpSecret = page.forms[0]!.values.secret!;
    const typed = { password: PASSWORD, 'password-again': PASSWORD, code: codeOf(harness, { totpSecret }) };
    const again = await client.send(page, typed);
    assert.equal(again.status, 403);
    assert.equal(again.h1, 'Set up your account');
    assert.equal((await client.send(again, typed)).h1, 'Your recovery codes');
  });

  test('no answer of ours is written down with the link in it.', async () => {
    const { path } = await newLink();
    await newClient(harness).get(path);
    const link = path.split('=')[1]!;
    assert.ok(harness.logged.length > 0);
    assert.deepEqual(
      harness.logged.filter((line) => line.includes(link)),
      [],
    );
  });
});
