// counterfoil init: writes a file that production starts with, overwrites nothing, and shows a key once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { parseConfiguration } from '../../../src/operate/config.ts';
import { ANSI, plainEnvironment, requireRefusal, run, start } from '../../support/command.ts';
import { digestOf } from '../../support/keys.ts';
import { installation } from '../../support/production.ts';

let folder: string;
beforeEach(() => {
  const { folder: made, config } = installation();
  folder = made;
  rmSync(config);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, 'counterfoil.yaml');
const init = (...args: string[]) => run(['init', ...args], { cwd: folder });
const written = () => parseConfiguration(readFileSync(file(), 'utf8'), file(), {});
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

const EVERYTHING = [
  ...['--base-url', 'https://pay.example', '--proxy', '10.0.0.1, 10.0.0.2', '--registration', 'invite'],
  ...['--merchant', `Brother's: "Café" #1`, '--iban', 'DE75 5121 0800 1245 1261 99', '--holder', 'Café GmbH'],
  ...['--support', 'help@cafe.example'],
  ...['--storage', './private', '--administrator', 'ana@example.org', '--allow-root'],
];

test('from flags it writes a configuration that says what was said, readable by its owner alone', async () => {
  const { code, stdout, stderr } = await init(...EVERYTHING);
  assert.equal(code, 0, stderr);
  const key = stdout.trim();
  assert.match(key, /^cfk_live_\w{49}$/);
  assert.deepEqual([mode(file()), mode(join(folder, 'private'))], ['600', '700']);
  const settings = written();
  assert.deepEqual(
    [settings.environment, settings.base_url, settings.trust_proxy, settings.registration.mode],
    ['production', 'https://pay.example', ['10.0.0.1', '10.0.0.2'], 'invite'],
  );
  assert.deepEqual([settings.storage, settings.database_url], [join(folder, 'private'), null]);
  const [merchant] = settings.merchants;
  assert.deepEqual([merchant!.name, merchant!.support], [`Brother's: "Café" #1`, 'help@cafe.example']);
  assert.deepEqual(
    merchant!.keys.map(({ digest, mode }) => [digest, mode]),
    [[digestOf(key), 'live']],
  );
  assert.deepEqual(
    settings.methods.map(({ type, accounts }) => [type, accounts[0]!.iban, accounts[0]!.holder]),
    [['bank_transfer', 'DE75512108001245126199', 'Café GmbH']],
  );
  assert.ok(!(stderr + readFileSync(file(), 'utf8')).includes(key), 'the key stands nowhere else');
  assert.match(stderr, /shown only this once[\s\S]*Nothing in it keeps the service from starting\.\nNext:\n/);
  assert.doesNotMatch(stdout + stderr, ANSI);
});

test('what it writes starts, and its next steps work as pasted', async () => {
  const { code, stderr } = await init('--base-url', 'https://127.0.0.1:1', '--allow-root');
  assert.equal(code, 0, stderr);
  const steps = [...stderr.matchAll(/^ {2}(\S.*)$/gm)].map(([, step]) => step!);
  assert.equal(steps.length, 4);
  const options = { cwd: folder, env: { PORT: '0' } };
  const serving = start('sh', ['-c', `exec ${steps[0]}`], options);
  await serving.until(/"event":"ready"/);
  try {
    const env = plainEnvironment();
    const link = execFileSync('sh', ['-c', steps[1]!], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
    assert.match(link, /^https:\/\/127\.0\.0\.1:1\/console\/set-up\?link=\w+\n$/);
    const key = execFileSync('sh', ['-c', steps[2]!], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
    assert.match(key, /^cfk_live_\w+\n$/, 'who is paid');
    const doctor = start('sh', ['-c', steps[3]!], options);
    await doctor.ended;
    assert.match(doctor.stdout, /^counterfoil doctor {2}production/);
  } finally {
    serving.child.kill('SIGTERM');
    await serving.ended;
  }
});

test('with a certificate of its own it listens for everybody, on the port of the address', async () => {
  const certificate = ['--certificate', 'tls/cert.pem', '--key', 'tls/key.pem'];
  requireRefusal(
    await init('--base-url', 'https://pay.example:8443', ...certificate),
    1,
    /Before it starts:\n {2}counterfoil\.yaml:\d+: tls\.certificate: \/.*tls\/cert\.pem/,
  );
  const { tls, host, port, trust_proxy } = written();
  assert.deepEqual([tls!.certificate, host, port], [join(folder, 'tls/cert.pem'), '0.0.0.0', 8443]);
  assert.deepEqual(trust_proxy, []);
});

test('--json is one document, with the key, and what is wrong', async () => {
  const served = join(folder, 'public');
  mkdirSync(served);
  const config = ['--config', join(served, 'pay.yaml')];
  const { code, stdout, stderr } = await init(...EVERYTHING, '--json', ...config);
  assert.deepEqual([code, stderr], [1, '']);
  const told = JSON.parse(stdout);
  assert.match(told.key, /^cfk_live_\w{49}$/);
  assert.deepEqual(
    told.failed.map(({ id }: { id: string }) => id),
    ['served_folder'],
  );
  assert.equal(told.next.length, 3);
});

test('it never writes over a file, unless told to, and then all of it', async () => {
  writeFileSync(file(), 'mine: yes\n', { mode: 0o644 });
  requireRefusal(await init(...EVERYTHING), 1, /^counterfoil: \.\/counterfoil\.yaml is there already: name/);
  assert.equal(readFileSync(file(), 'utf8'), 'mine: yes\n');
  assert.equal((await init(...EVERYTHING, '--force')).code, 0);
  assert.deepEqual([mode(file()), mode(`${file()}.old`)], ['600', '600']);
  assert.equal((await init(...EVERYTHING, '--force')).code, 0);
  assert.equal(readFileSync(`${file()}.old`, 'utf8'), 'mine: yes\n', 'the first is kept');
  assert.match(readFileSync(`${file()}.old.2`, 'utf8'), /environment: production/);
  assert.equal(written().environment, 'production');
});

test('a storage folder that cannot be made costs neither a file nor a key', async () => {
  writeFileSync(join(folder, 'occupied'), '');
  const told = await init(...EVERYTHING, '--storage', './occupied/private');
  assert.equal(told.code, 1);
  assert.equal(told.stdout, '');
  assert.match(told.stderr, /occupied\/private .*\(ENOTDIR\), .*nothing was/);
  assert.ok(!existsSync(file()));
});

test('it makes the folder of the file, for its owner alone', async () => {
  const config = join(folder, 'etc/pay/counterfoil.yaml');
  assert.equal((await init(...EVERYTHING, '--config', config)).code, 0);
  assert.deepEqual([mode(dirname(config)), mode(join(dirname(config), 'private'))], ['700', '700']);
});

describe('says what is missing or wrong, and writes nothing', () => {
  const iban = ['--iban', 'DE75 5121 0800 1245 1261 99'];
  const wrong: [args: string[], code: number, said: RegExp][] = [
    [['--certificate', 'a.pem'], 2, /^error: --certificate has no use without --key\n/],
    [iban, 2, /^error: --iban has no use without --holder\n/],
    [['--support', 'help@cafe.example'], 2, /^error: --support has no use without --merchant\n/],
    [['--registration', 'maybe'], 2, /Allowed choices are open, invite, closed/],
    [['--proxy', '::1', '--certificate', 'a.pem'], 2, /cannot be used with option '--certificate <file>'/],
    [['--administrator', 'ana'], 2, /must be an e-mail address/],
    [
      ['--base-url', 'http://pay.example'],
      1,
      /^counterfoil: base_url must be an https URL in production.*nothing was written\n$/,
    ],
    [['--proxy', 'everybody'], 1, /^counterfoil: trust_proxy\S* must be an IP address or a network/],
    [['--proxy', '0.0.0.0/1'], 1, /^counterfoil: trust_proxy\S* is so large that strangers are in it/],
    [['--database-url', 'mysql://x'], 1, /^counterfoil: database_url must begin with postgres/],
    [
      ['--iban', 'DE00 1', '--holder', 'Ana'],
      1,
      /^counterfoil: methods\S* must be an IBAN whose check digits are right/,
    ],
    [['--merchant', 'x'.repeat(121)], 1, /^counterfoil: merchants\S* must be at most 120 characters/],
    [['--merchant', 'A', '--support', 'x'], 1, /^counterfoil: merchants\S* must be /],
  ];
  for (const [args, code, said] of wrong)
    test(`init ${args.join(' ').slice(0, 70)}`, async () => {
      const told = await init(...args);
      assert.deepEqual([told.code, told.stdout], [code, ''], told.stderr);
      assert.match(told.stderr, said);
      assert.ok(!existsSync(file()));
    });
});
