// counterfoil administrators: beside a server that runs, on both engines, as an operator types it and reads it.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setUpLink } from '../../../src/operate/commands/welcome.ts';
import type { Configuration } from '../../../src/operate/config.ts';
import { operatorOf, requireRefusal, run } from '../../support/command.ts';
import { newClient, signIn } from '../../support/console.ts';
import { sharedHarness, startHarness } from '../../support/harness.ts';
import { addPerson, type Person, partsOf } from '../../support/people.ts';
import { ENGINES } from '../../support/stores.ts';

const ANA = ['--email', 'Ana@Example.org', '--name', 'Ana Example', '--role', 'administrator'];

for (const engine of ENGINES) {
  describe(`administrators on ${engine}`, () => {
    const harness = sharedHarness(engine, { isVerified: true });
    let env: Record<string, string>;
    let boss: Person;
    const administrators = async (...args: string[]) => {
      const done = await run(['administrators', ...args], { env });
      harness.service.database.refresh(); // its reads may share a view from before the command
      return done;
    };
    /** The page behind a set-up link. */
    const opened = async (link: string) =>
      (await newClient(harness).get(`/set-up${new URL(link).search}`)).body;

    before(async () => {
      env = operatorOf(harness.store);
      boss = await addPerson(partsOf(harness), { email: 'boss@example.org', name: 'Boss' });
    });

    test('create prints a link alone on standard output, which the running server knows at once', async () => {
      const { code, stdout, stderr } = await administrators('create', ...ANA);
      assert.equal(code, 0);
      assert.match(stdout, /^http:\/\/127\.0\.0\.1:\d+\/console\/set-up\?link=[0-9a-z]{26}\n$/);
      const secret = stdout.trim().split('=')[1]!;
      for (const said of ['ana@example.org', 'Ana Example'])
        assert.ok((await opened(stdout.trim())).includes(said), said);
      assert.match(stderr, /Ana Example \(ana@example\.org, administrator\) is added\.\nThe link works/);
      assert.ok(!stderr.includes(secret));
      requireRefusal(await administrators('create', ...ANA), 1, /^counterfoil: there is an administrator/);
    });

    test('what is wrong is told in one line, all of it', async () => {
      requireRefusal(
        await administrators('create', '--email', 'ana', '--name', ' ', '--role', 'auditor'),
        2,
        /--email <address>' argument 'ana' is invalid\. It must be an e-mail/,
      );
      const blank = await administrators(
        'create',
        '--email',
        'a@b.example',
        '--name',
        ' ',
        '--role',
        'auditor',
      );
      assert.deepEqual([blank.code, blank.stdout], [2, '']);
      assert.match(blank.stderr, /--name <name>' argument ' ' .*be empty/);
      requireRefusal(
        await administrators('create', '--email', 'a@b.example', '--name', 'A', '--role', 'boss'),
        2,
        /Allowed choices are administrator, reviewer, auditor/,
      );
      requireRefusal(await administrators('disable', 'nobody@example.org'), 1, /^counterfoil: there is no/);
    });

    test('list tells who may what and how they prove who they are, and nothing that proves it', async () => {
      const { code, stdout } = await administrators('list');
      assert.equal(code, 0);
      assert.match(
        stdout,
        /^boss@example\.org +Boss +administrator +active +authenticator app, 10 recovery codes$/m,
      );
      assert.match(stdout, /^ana@example\.org .* +not set up +link \w+ \d+ \w+/m);
      const listed = await administrators('list', '--json');
      for (const secret of [boss.totpSecret, boss.administrator.password!, boss.administrator.salt])
        assert.ok(!listed.stdout.includes(secret));
      const [first] = JSON.parse(listed.stdout).administrators;
      assert.deepEqual(
        [first.email, first.state, first.authenticator_app, first.recovery_codes],
        ['boss@example.org', 'active', true, 10],
      );
    });

    test('disable ends the sessions that the running server knows; enable, role and reset do what they say', async () => {
      const bo = await signIn(harness, 'reviewer', 'Bo');
      const { email } = bo.account;
      const isIn = async () => (await bo.get('/account')).h1 === 'Your account';
      assert.equal(await isIn(), true);
      const disabled = await administrators('disable', email);
      assert.deepEqual(
        [disabled.code, disabled.stdout],
        [0, `Bo (${email}) is disabled. 2 sessions ended.\n`],
      );
      assert.equal(await isIn(), false);
      assert.match((await administrators('disable', email)).stderr, /is disabled already\n$/);
      assert.match((await administrators('reset', email)).stderr, /disabled\. Enable them first\n$/);
      assert.equal((await administrators('enable', email.toUpperCase())).code, 0);
      const role = await administrators('role', email, 'auditor', '--json');
      assert.deepEqual([role.code, JSON.parse(role.stdout).role], [0, 'auditor']);
      const reset = await administrators('reset', email, '--json');
      assert.ok((await opened(JSON.parse(reset.stdout).setup_url)).includes(email));
      const all = JSON.parse((await administrators('list', '--json')).stdout).administrators;
      assert.equal(all.find((one: { email: string }) => one.email === email).state, 'not set up');
    });

    test('the last who can do everything is kept', async () => {
      for (const args of [
        ['disable', 'boss@example.org'],
        ['role', 'boss@example.org', 'reviewer'],
      ]) {
        requireRefusal(await administrators(...args), 1, /^counterfoil: the last administrator who is set/);
      }
    });

    test('a token is printed once, lasts 90 days, and is gone when it is revoked', async () => {
      const args = ['--email', 'boss@example.org', '--name', 'Nightly export', '--role', 'auditor'];
      const { code, stdout, stderr } = await administrators('token', 'create', ...args);
      assert.equal(code, 0);
      assert.match(stdout, /^cfa_\w{49}\n$/);
      const token = stdout.trim();
      const [, id] = /Token (tok_\w+) acts for Boss \(boss@example\.org\) as auditor until/.exec(stderr)!;
      assert.match(stderr, /only this once[\s\S]*Next: /);
      const answer = async () => (await harness.request('/admin/payments', { key: token })).status;
      assert.equal(await answer(), 200);
      const [listed] = JSON.parse((await administrators('token', 'list', '--json')).stdout).tokens;
      assert.deepEqual([listed.id, listed.role, listed.state], [id, 'auditor', 'active']);
      assert.equal(
        Math.round((Date.parse(listed.expires_at) - Date.parse(listed.created_at)) / 86_400_000),
        90,
      );
      assert.equal(
        (await administrators('token', 'revoke', id!)).stdout,
        `Revoked ${id} (Nightly export).\n`,
      );
      assert.equal(await answer(), 401);
      assert.match((await administrators('token', 'list')).stdout, /Nightly export +revoked \d+ \w+ 20.*/);
      assert.match((await administrators('token', 'revoke', id!)).stderr, /tok_\w+ was revoked/);
      const long = await administrators('token', 'create', ...args, '--expires-in-days', '401');
      assert.deepEqual([long.code, long.stdout], [2, '']);
    });
  });

  test(`on ${engine} commands and a server under load write one history side by side`, async () => {
    await using harness = await startHarness(engine);
    const env = operatorOf(harness.store);
    let going = true;
    let created = 0;
    const client = async () => {
      for (; going; created++) await harness.create();
    };
    const clients = Array.from({ length: 8 }, client);
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        run(
          ['administrators', 'create', '--email', `a${i}@example.org`, '--name', 'A', '--role', 'reviewer'],
          { env },
        ),
      ),
    );
    going = false;
    await Promise.all(clients);
    for (const { code, stderr } of made) assert.equal(code, 0, stderr);
    const verified = await run(['audit', 'verify', '--json'], { env });
    const { administrators, payments } = JSON.parse(verified.stdout);
    assert.deepEqual([verified.code, administrators, payments], [0, 6, created]);
  });
}

test('each start in development has a new set-up link, until somebody is set up or it is not wanted', async () => {
  await using harness = await startHarness('sqlite');
  const env = operatorOf(harness.store);
  const administrators = (...args: string[]) => run(['administrators', ...args], { env });
  const atStart = () => setUpLink({ environment: 'development' } as Configuration, harness.service);
  const seen = [await atStart()];
  await administrators('create', ...ANA);
  seen.push(await atStart());
  for (const link of seen) assert.match(link!, /\/console\/set-up\?link=[0-9a-z]{26}$/);
  assert.notEqual(seen[0], seen[1]);
  const [first] = JSON.parse((await administrators('list', '--json')).stdout).administrators;
  assert.deepEqual([first.email, first.role], ['admin@localhost', 'administrator']);
  await administrators('disable', 'admin@localhost');
  harness.service.database.refresh();
  assert.equal(await atStart(), undefined);
});
