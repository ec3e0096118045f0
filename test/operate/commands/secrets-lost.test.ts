// counterfoil secrets lost: a store whose key is gone serves again, and nothing is cleared that another key opens.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { keyLine, newSecretKey, readSecretKeys, SECRETS_FILE } from '../../../src/journal/keys/key-file.ts';
import { operatorOf, requireRefusal, run } from '../../support/command.ts';
import { codeOf, createAccount, MANY_SIGN_INS, newClient, signInAs } from '../../support/console.ts';
import { type Harness, startHarness } from '../../support/harness.ts';

describe('a key for secrets that is lost', () => {
  /** Runs a command beside a store. */
  const commandOf = ({ store }: Harness, configuration = '') => {
    const env = operatorOf(store, 'development', configuration);
    return (...args: string[]) => run(args, { env });
  };
  /** What doctor finds of the keys, and whether it names the way out. */
  const doctorOn = async (command: ReturnType<typeof commandOf>) => {
    const { findings } = JSON.parse((await command('doctor', '--json')).stdout);
    const { outcome, fix } = findings.find(({ id }: { id: string }) => id === 'secrets_keys');
    return [outcome, /counterfoil secrets lost/.test(fix)];
  };
  const place = ({ store }: Harness) => ({ ...store, secrets_key_file: null, secrets_keys: null });

  test('the store goes on, administrators come in by their recovery codes, and the history tells.', async () => {
    await using harness = await startHarness('sqlite', { configuration: MANY_SIGN_INS });
    const command = commandOf(harness);
    const account = await createAccount(harness);
    const { id, email } = account.administrator;
    await harness.stop();
    assert.match((await command('secrets', 'lost', '--yes')).stderr, /no key .*missing from/);
    rmSync(join(harness.store.storage, SECRETS_FILE));
    const refused = await command('administrators', 'list');
    assert.equal(refused.code, 0, 'commands that open no secret go on');
    await assert.rejects(harness.start(), /lacks .* [0-9a-f]{16}.*counterfoil secrets lost/);
    assert.deepEqual(await doctorOn(command), ['failed', true]);
    requireRefusal(await command('secrets', 'lost'), 1, /1 secret of authenticator apps and webhook/);
    const done = await command('secrets', 'lost', '--yes', '--json');
    assert.equal(done.code, 0, done.stderr);
    const { lost, current, cleared, left } = JSON.parse(done.stdout);
    assert.deepEqual([cleared, left], [[email], []]);
    assert.deepEqual(
      readSecretKeys(place(harness)).map((key) => key.id),
      [current],
    );
    assert.deepEqual(await doctorOn(command), ['ok', false]);
    await harness.start();
    const [row] = await harness.service.database.query(
      'select totp_secret, totp_step from administrators where id = ?',
      id,
    );
    assert.deepEqual({ ...row }, { totp_secret: null, totp_step: null });
    const client = newClient(harness);
    const { password } = account;
    const form = await client.get('/sign-in?next=/account');
    const wrong = await client.send(form, { email, password, code: codeOf(harness, account) });
    assert.equal(wrong.status, 422);
    const entered = await client.send(wrong, { email, password, 'recovery-code': account.recoveryCodes[0]! });
    assert.equal(entered.h1, 'Your account', entered.body);
    await harness.verify();
    const actions = await harness.service.database.query<{ action: string }>(
      "select action from audit_entries where action like 'secrets.%' or action = 'administrator.totp_lost' order by number",
    );
    assert.deepEqual(
      actions.map(({ action }) => action),
      ['secrets.key_recorded', 'secrets.key_used', 'administrator.totp_lost', 'secrets.key_lost'],
    );
    // Its return would bring nothing back: the store counts it no more.
    assert.match((await command('secrets', 'list')).stdout, new RegExp(`${lost[0]} .*removed`));
  });

  test('an old key that is lost costs what it sealed alone.', async () => {
    await using harness = await startHarness('sqlite', { configuration: MANY_SIGN_INS });
    const command = commandOf(harness);
    const kept = await createAccount(harness);
    const file = join(harness.store.storage, SECRETS_FILE);
    const rotated = await command('secrets', 'rotate', '--json');
    assert.equal(rotated.code, 0, rotated.stderr);
    const { current } = JSON.parse(rotated.stdout);
    await harness.stop();
    const keys = readSecretKeys(place(harness));
    writeFileSync(file, `${keyLine(keys.find((key) => key.id === current)!)}\n`);
    const done = await command('secrets', 'lost', '--yes', '--json');
    assert.equal(done.code, 0, done.stderr);
    const result = JSON.parse(done.stdout);
    assert.deepEqual([result.current, result.cleared, result.lost], [current, [], [keys[0]!.id]]);
    await harness.start();
    await signInAs(harness, kept);
    await harness.verify();
  });

  test('a key that the operator keeps elsewhere is not made, but asked for.', async () => {
    await using harness = await startHarness('sqlite');
    const folder = mkdtempSync(join(tmpdir(), 'counterfoil-elsewhere-'));
    const file = join(folder, 'elsewhere.key');
    const command = commandOf(harness, `secrets_key_file: ${file}\n`);
    await harness.stop();
    writeFileSync(file, '# empty\n', { mode: 0o600 });
    requireRefusal(await command('secrets', 'lost', '--yes'), 1, /elsewhere\.key holds no new key:/);
    const key = newSecretKey();
    writeFileSync(file, `${keyLine(key)}\n`);
    const done = await command('secrets', 'lost', '--yes', '--json');
    assert.equal(JSON.parse(done.stdout).current, key.id, done.stderr);
    assert.equal(readFileSync(file, 'utf8'), `${keyLine(key)}\n`);
    assert.equal((await doctorOn(command))[0], 'ok');
    chmodSync(file, 0o640);
    assert.equal((await doctorOn(command))[0], 'failed');
    rmSync(folder, { recursive: true });
  });
});
