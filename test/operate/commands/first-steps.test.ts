// The first steps with the real commands: init, doctor, a start, an administrator, a key and a backup. Nothing is red on the way.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { hasOpenssl, temporaryCertificates } from '../../support/certificates.ts';
import { COMMAND, run, start } from '../../support/command.ts';
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
    const { findings } = JSON.parse(await command('doctor', '--json', '--timeout', '300'));
    return ids.map((id) => findings.find((one: { id: string }) => one.id === id).outcome);
  };

  const url = ['--base-url', `https://localhost:${port}`, '--certificate', certificate, '--key', key];
  await command('init', ...url, '--merchant', 'Corner Shop', '--allow-root');
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
