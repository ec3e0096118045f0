// The Debian package on a machine with systemd: installed, upgraded, removed and purged; the store outlives all of it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { writeDebianPackage } from '../../scripts/debian-package.ts';
import { KEY } from '../support/harness.ts';
import { bootMachine, type Machine, noMachine } from '../support/machine.ts';

const MADE = { seconds: 1_790_000_000, maintainer: 'Ana Example <ana@example.org>' };
const hasDpkg = spawnSync('dpkg-deb', ['--version']).status === 0;
const READY =
  'curl --fail --silent --retry 30 --retry-delay 1 --retry-connrefused http://127.0.0.1:8080/health/ready';
const PAY = `curl --fail --silent -H "Authorization: Bearer ${KEY}" -H "Content-Type: application/json" http://127.0.0.1:8080/v1/payments`;

describe('the Debian package', { skip: noMachine() || (!hasDpkg && 'no dpkg-deb') }, () => {
  let folder: string;
  let file: string;
  let newer: string;
  let machine: Machine;
  before(async () => {
    // The machine has a /tmp of its own.
    folder = mkdtempSync('/var/tmp/counterfoil-debian-package-');
    file = await writeDebianPackage(folder, MADE);
    newer = await writeDebianPackage(folder, { ...MADE, version: '9.0.0' });
    machine = await bootMachine();
  });
  after(async () => {
    await machine?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function shell(script: string): Promise<string> {
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };
    const running = machine.start('/bin/sh', ['-ec', script], env);
    running.child.stdin!.end();
    const { code } = await running.ended;
    assert.equal(code, 0, `${script}: ${running.stdout}${running.stderr}`);
    return running.stdout.trim();
  }

  test('the same commit gives the same bytes, whatever the umask.', async () => {
    const again = join(folder, 'again');
    mkdirSync(again);
    const umask = process.umask(0o077);
    const other = await writeDebianPackage(again, MADE).finally(() => process.umask(umask));
    assert.ok(readFileSync(file).equals(readFileSync(other)));
  });

  test('installed and started, it serves on loopback under its own account.', async () => {
    await shell(`apt-get install --yes ${file}; systemctl start counterfoil; ${READY}`);
    assert.match(await shell(`${PAY} --data '{"amount": 1}'`), /"status":"pending"/);
    assert.equal(
      await shell('ps -o user:20= -p $(systemctl show --value -p MainPID counterfoil)'),
      'counterfoil',
    );
    assert.equal(await shell('stat -c "%U %a" /etc/counterfoil/counterfoil.yaml'), 'counterfoil 600');
    assert.match(await shell('counterfoil keys list'), /mer_development/);
    await shell('counterfoil backup /var/backups/counterfoil && counterfoil audit verify');
    assert.equal(
      await shell('dpkg --status counterfoil | grep ^Maintainer'),
      `Maintainer: ${MADE.maintainer}`,
    );
    await shell('systemd-analyze verify /usr/lib/systemd/system/counterfoil-backup.timer');
  });

  test('upgraded, it is restarted with the configuration that was changed and the store that was there.', async () => {
    const before = await shell(
      `echo '# ours' >> /etc/counterfoil/counterfoil.yaml; systemctl show --value -p MainPID counterfoil`,
    );
    await shell(`apt-get install --yes --option Dpkg::Options::=--force-confold ${newer}; ${READY}`);
    assert.notEqual(await shell('systemctl show --value -p MainPID counterfoil'), before);
    assert.equal(await shell('tail -n 1 /etc/counterfoil/counterfoil.yaml'), '# ours');
    assert.equal(await shell('stat -c "%U %a" /etc/counterfoil/counterfoil.yaml'), 'counterfoil 600');
    assert.match(await shell(PAY), /"amount":"1.00"/);
  });

  test('removed, it leaves configuration, store and backups; purged, the store and backups.', async () => {
    const kept = 'ls /var/lib/counterfoil /var/backups/counterfoil';
    await shell('apt-get remove --yes counterfoil');
    assert.equal(await shell('systemctl is-active counterfoil || true'), 'inactive');
    const left = await shell(kept);
    assert.match(left, /counterfoil\.db|\.sqlite/);
    await shell('test -s /etc/counterfoil/counterfoil.yaml; test ! -e /usr/lib/counterfoil');
    await shell('apt-get purge --yes counterfoil');
    assert.equal(await shell(kept), left);
    await shell('test ! -e /etc/counterfoil/counterfoil.yaml; getent passwd counterfoil');
    await shell(`apt-get install --yes ${file}; systemctl start counterfoil; ${READY}`);
    assert.match(await shell(PAY), /"amount":"1.00"/);
  });
});
