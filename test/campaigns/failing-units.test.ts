// The units of deploy/ that tell of a failure, run as written on a machine of its own with systemd, and a stand-in for mail.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bootMachine, type Machine, noMachine } from '../support/machine.ts';

const SAYS = 'the disk of backups is gone';
const PROGRAMS = {
  counterfoil: `#!/bin/sh\necho "$1: ${SAYS}" >&2\nexit 1\n`,
  mail: '#!/bin/sh\n{ echo "to: $*"; cat; } > "/var/log/mailed-$2.new"; mv "/var/log/mailed-$2.new" "/var/log/mailed-$2"\n',
};
const UNITS = { 'counterfoil-backup': 'backup', 'counterfoil-verify': 'audit' };

describe('a unit that fails', { skip: noMachine() }, () => {
  let machine: Machine;
  const shell = async (script: string) => {
    const running = machine.start('/bin/bash', ['-c', script], { PATH: '/usr/bin:/bin' });
    const { code } = await running.ended;
    return { code, said: running.stdout + running.stderr };
  };
  before(async () => {
    machine = await bootMachine(PROGRAMS);
    const installed = await shell(
      'install -m 0644 /opt/counterfoil/deploy/counterfoil*.service /opt/counterfoil/deploy/counterfoil-*.timer /etc/systemd/system/ && systemctl daemon-reload',
    );
    assert.equal(installed.code, 0, installed.said);
  });
  after(() => machine?.remove());

  for (const [unit, command] of Object.entries(UNITS))
    test(`${unit} is told to root by mail, with what it said`, async () => {
      assert.notEqual((await shell(`systemctl start ${unit}`)).code, 0);
      const subject = `${unit}.service failed`;
      const { said } = await shell(
        `until [ -e "/var/log/mailed-${subject}" ]; do sleep 0.2; done; cat "/var/log/mailed-${subject}"`,
      );
      assert.match(said, new RegExp(`^to: -s ${subject} root$`, 'm'));
      assert.match(said, new RegExp(`${command}: ${SAYS}`), said);
    });
});
