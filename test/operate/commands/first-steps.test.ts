// The first steps with the real commands: init, doctor, a start, an administrator, a key and a backup. Nothing is red on the way.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasOpenssl, temporaryCertificates } from '../../support/certificates.ts';
import { COMMAND, ROOT, run, start } from '../../support/command.ts';
import { freePort } from '../../support/free-ports.ts';
import { installation } from '../../support/production.ts';

test('doctor tells what is not yet there from what failed, step by step', {
  skip: !hasOpenssl && 'openssl is missing',
}, async (t) => {
  const place = installation();
  const pairs = temporaryCertificates();
  t.after(() => {
    place.remove();
    pairs.remove();
  });
  rmSync(place.config);
  const port = await freePort();
  const { certificate, key } = pairs.make('localhost');
  const env = { NODE_EXTRA_CA_CERTS: certificate };
  const command = async (...words: string[]) => {
    const ended = await run(words, { cwd: place.folder, env });
    assert.equal(ended.code, 0, `${words.join(' ')}: ${ended.stderr}${ended.stdout}`);
    return ended.stdout;
  };
  /** The outcomes of some checks; `run` has made sure that doctor found nothing failed. */
  const doctor = async (...ids: string[]) => {
    const { findings } = JSON.parse(await command('doctor', '--json'));
    return ids.map((id) => findings.find((one: { id: string }) => one.id === id).outcome);
  };

  const url = ['--base-url', `https://localhost:${port}`, '--certificate', certificate, '--key', key];
  await command('init', '--yes', ...url, '--merchant', 'Corner Shop', '--allow-root');
  const text = readFileSync(place.config, 'utf8').replace(/^host: .*$/m, 'host: localhost');
  writeFileSync(place.config, `${text}\nbackups: ./backups\n`, { mode: 0o600 });
  const ids = ['reach_api', 'certificate_presented', 'administrators', 'backups'];
  assert.deepEqual(await doctor(...ids), ['skipped', 'skipped', 'skipped', 'skipped']);

  const server = start(process.execPath, [COMMAND, 'serve'], {
    cwd: place.folder,
    env,
  });
  await server.until(/"event":"ready"/);
  t.after(async () => {
    server.child.kill('SIGTERM');
    await server.ended;
  });
  assert.deepEqual(await doctor(...ids), ['ok', 'ok', 'warning', 'warning']);
  await command(
    ...['administrators', 'create', '--email', 'ana@example.org', '--name', 'Ana', '--role', 'administrator'],
  );
  await command('keys', 'create', '--merchant', 'Corner Shop', '--live');
  assert.deepEqual(await doctor(...ids), ['ok', 'ok', 'warning', 'warning']);
  await command('backup', './backups');
  assert.deepEqual(await doctor(...ids), ['ok', 'ok', 'warning', 'ok']);
});

test('init: its next steps are those of the way in which it was asked to run', async (t) => {
  const { folder, config: unused, remove } = installation();
  t.after(remove);
  rmSync(unused);
  const url = ['init', '--yes', '--allow-root', '--base-url', 'https://pay.example'];
  const nextOf = async (words: string[], cwd: string, env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await run([...url, '--json', ...words], { cwd, env });
    assert.equal(code, 0, stderr);
    const { storage, next } = JSON.parse(stdout) as { storage: string; next: string[] };
    return { storage, next: next.map((one) => one.replace(/ --email.*/, '')) };
  };
  const elsewhere = join(folder, 'elsewhere');
  const installed = (way: string) => ({
    COUNTERFOIL_RUN_BY: way,
    COUNTERFOIL_CONFIG: join(folder, `${way}.yaml`),
    COUNTERFOIL_STORAGE: elsewhere,
  });
  const cases: [
    words: string[],
    cwd: string,
    env: Record<string, string>,
    storage: string,
    next: string[],
  ][] = [
    [
      [],
      ROOT,
      installed('systemd'),
      elsewhere,
      [
        'sudo systemctl enable --now counterfoil',
        'sudo counterfoil administrators create',
        'sudo counterfoil doctor',
      ],
    ],
    [
      [],
      folder,
      installed('compose'),
      elsewhere,
      [
        'docker compose up --detach --build --wait',
        'docker compose exec node-a counterfoil administrators create',
        'docker compose exec node-a counterfoil doctor',
      ],
    ],
    [
      ['--config', join(folder, 'other.yaml')],
      ROOT,
      { COUNTERFOIL_RUN_BY: 'systemd' },
      join(folder, 'storage'),
      ['serve', 'administrators create', 'doctor'].map(
        (one) => `sudo counterfoil ${one} --config ${join(folder, 'other.yaml')}`,
      ),
    ],
    [
      ['--config', join(folder, 'clone.yaml')],
      ROOT,
      {},
      join(folder, 'storage'),
      ['npm start --', 'npx counterfoil administrators create', 'npx counterfoil doctor'].map(
        (one) => `${one} --config ${join(folder, 'clone.yaml')}`,
      ),
    ],
  ];
  for (const [words, cwd, env, storage, next] of cases)
    assert.deepEqual(await nextOf(words, cwd, env), { storage, next });
});
