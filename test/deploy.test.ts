// The files with which the service is run for real, held to the program: what they name exists, and what they say is so.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import packageJson from '../package.json' with { type: 'json' };
import { SECRETS_FILE } from '../src/journal/keys/key-file.ts';
import { parseConfiguration } from '../src/operate/config.ts';
import { configurationSchema } from '../src/operate/settings/settings.ts';
import { LIMITS } from '../src/web/server.ts';
import { plainEnvironment, ROOT } from './support/command.ts';

import { isInstalled } from './support/proxy.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const DEFAULTS = configurationSchema.parse({});
/** How `npm start` runs the service: what stands before `node`, and what behind it. */
const START = /^(?<environment>\S+) exec node (?<options>.*) serve$/.exec(packageJson.scripts.start)!.groups!;
const STOP_DEADLINE_MS = Number(/STOP_DEADLINE_MS = (\d+)/.exec(read('src/operate/commands/serve.ts'))![1]);

describe('the timers', () => {
  for (const name of ['backup', 'verify'])
    test(`counterfoil-${name} runs a command that there is, and tells of a failure`, () => {
      const unit = read(`deploy/counterfoil-${name}.service`);
      const [, line] = /^ExecStart=\/usr\/local\/bin\/counterfoil (.*)$/m.exec(unit)!;
      assert.ok(read('docs/commands.md').includes(line!.split(' ')[0]!));
      assert.match(unit, /^OnFailure=counterfoil-failed@%n\.service$/m);
      assert.match(read(`deploy/counterfoil-${name}.timer`), /^Persistent=true$/m);
    });
});

describe('deploy/counterfoil.service', () => {
  const unit = read('deploy/counterfoil.service');
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

  test('starts what npm start does, and stops it in time', () => {
    assert.equal(
      value('ExecStart'),
      `${value('WorkingDirectory')}/node_modules/.bin/node ${START.options} serve`,
    );
    assert.match(unit, new RegExp(`^Environment=${START.environment}$`, 'm'));
    assert.equal(value('RestartPreventExitStatus'), '78');
    assert.equal(value('LogRateLimitIntervalSec'), '0');
    assert.ok(Number(value('TimeoutStopSec')) * 1000 > STOP_DEADLINE_MS);
    assert.equal(value('ExecReload'), '/bin/kill -HUP $MAINPID');
    assert.equal(value('InaccessiblePaths'), `-${value('WorkingDirectory')}/.git`);
  });

  test('lets the service ask for the addresses of this machine, without which 0.0.0.0 ends a start', () => {
    assert.ok(value('RestrictAddressFamilies')!.split(' ').includes('AF_NETLINK'));
  });

  test('the command for administrators has its account and its environment', () => {
    const script = read('deploy/counterfoil');
    assert.match(script, new RegExp(`runuser -u ${value('User')} `));
    const variables = [...unit.matchAll(/^Environment=(COUNTERFOIL_\S+)$/gm)].map(([, one]) => one!);
    assert.equal(variables.length, 2);
    for (const one of variables)
      assert.ok(
        script.includes(one.replace(/=(.*)/, `="\${$NAME:-$1}"`).replace('$NAME', one.split('=')[0]!)),
        one,
      );
    assert.ok(script.includes(`${value('WorkingDirectory')}/bin/counterfoil.js`));
  });

  test('the command for administrators runs with the PATH of cron', {
    skip: process.getuid?.() !== 0 && 'runuser wants root',
  }, () => {
    const script = read('deploy/counterfoil')
      .replaceAll('/opt/counterfoil', ROOT.replace(/\/$/, ''))
      .replace('runuser -u counterfoil', 'runuser -u root')
      .replace('--reuid=counterfoil --regid=counterfoil', '--reuid=root --regid=root');
    for (const [args, says] of [
      [['--version'], packageJson.version],
      [['store', '--help'], 'Usage: counterfoil store '],
      [['doctor', '--help'], 'Usage: counterfoil doctor '],
    ] as const) {
      const env = { PATH: '/usr/bin:/bin' };
      const ran = spawnSync('/bin/sh', ['-c', script, 'counterfoil', ...args], { env, encoding: 'utf8' });
      assert.equal(ran.status, 0, ran.stderr);
      assert.ok(ran.stdout.startsWith(says), ran.stdout);
    }
  });

  test('the command for administrators runs as its account itself, as a mail server calls it', () => {
    const account = value('User')!;
    assert.ok(
      read('docs/mail.md').includes(`user=${account} argv=/usr/local/bin/counterfoil mail bounced\n`),
    );
    const script = read('deploy/counterfoil')
      .replaceAll('/opt/counterfoil', ROOT.replace(/\/$/, ''))
      .replace(`= ${account} ]`, `= ${userInfo().username} ]`)
      .replace(/runuser|setpriv/g, 'false');
    const env = { PATH: '/usr/bin:/bin' };
    const ran = spawnSync('/bin/sh', ['-c', script, 'counterfoil', 'mail', '--help'], {
      env,
      encoding: 'utf8',
    });
    assert.equal(ran.status, 0, ran.stderr);
  });

  test('a --config goes over the environment of that command, and so does what the caller sets', () => {
    const script = read('deploy/counterfoil').replace(
      /^exec .*$/m,
      `echo "\${COUNTERFOIL_CONFIG-none} \${COUNTERFOIL_STORAGE-none}"`,
    );
    const settingsOf = (args: string[], env: Record<string, string> = {}) =>
      spawnSync('sh', ['-c', script, 'counterfoil', ...args], {
        env: plainEnvironment(env),
        encoding: 'utf8',
      }).stdout.trim();
    assert.equal(settingsOf(['doctor']), '/etc/counterfoil/counterfoil.yaml /var/lib/counterfoil');
    assert.match(script, /^export COUNTERFOIL_RUN_BY=systemd$/m);
    for (const args of [['--config', 'b.yaml'], ['--config=b.yaml']])
      assert.equal(settingsOf(['doctor', ...args]), 'none none', args.join(' '));
    const elsewhere = { COUNTERFOIL_STORAGE: '/var/tmp/rehearsal' };
    assert.equal(settingsOf(['doctor'], elsewhere), '/etc/counterfoil/counterfoil.yaml /var/tmp/rehearsal');
  });

  test('two nodes on one machine share the file of keys that their account alone reads', () => {
    const section = /### Two nodes on one machine\n.*?(?=\n### )/s.exec(
      read('docs/operating/install.md'),
    )![0];
    // An empty StateDirectory= puts the mode back, and a node refuses a folder that others may enter.
    assert.match(section, /^StateDirectory=\n.*\nStateDirectoryMode=0700$/m);
    const lines = [...section.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text).join('');
    const text = `base_url: https://pay.example\ntrust_proxy: [127.0.0.1]\n${lines}`;
    const { secrets_key_file } = parseConfiguration(text, '/etc/counterfoil/counterfoil.yaml', {});
    const install = `install -m 0600 -o ${value('User')} -g ${value('Group') ?? value('User')}`;
    assert.ok(section.includes(`counterfoil secrets new | ${install} /dev/stdin ${secrets_key_file}\n`));
    assert.ok(
      section.includes(`${install} /var/lib/counterfoil/${SECRETS_FILE} ${dirname(secrets_key_file!)}/`),
    );
    assert.equal(basename(secrets_key_file!), SECRETS_FILE);
  });

  const canJudge = isInstalled('systemd-analyze', '--version');
  test('systemd takes it, and exposes little by it', { skip: !canJudge && 'no systemd-analyze' }, (t) => {
    const file = join(mkdtempSync(join(tmpdir(), 'counterfoil-unit-')), 'counterfoil.service');
    t.after(() => rmSync(dirname(file), { recursive: true }));
    writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`)); // what is not there is no command
    const judge = (...args: string[]) => {
      const { status, stderr } = spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    };
    judge('verify', '--man=no');
    judge('security', '--offline=true', '--no-pager', '--threshold=13'); // tenths: 1.3 of 10
  });
});

describe('the proxies', () => {
  const nginx = read('deploy/nginx.conf');
  const caddy = read('deploy/Caddyfile');
  const body = (text: string) => text.slice(text.indexOf('{\n'));

  test('let go of connections before the service does, and leave it the last word on sizes', () => {
    const { keepAliveTimeoutMs, bodyBytes } = LIMITS;
    const upstream = /^upstream [^}]*\n}/m.exec(nginx)![0];
    const seconds = Number(/keepalive_timeout (\d+)s/.exec(upstream)![1]);
    assert.ok(seconds > 0 && seconds * 1000 < keepAliveTimeoutMs);
    assert.ok(Number(/keepalive_requests (\d+)/.exec(upstream)![1]) < 1000);
    assert.ok(Number(/keepalive (\d+)s/.exec(caddy)![1]) * 1000 < keepAliveTimeoutMs);
    const largest = Number(/client_max_body_size (\d+)k/.exec(nginx)![1]) * 1024;
    assert.ok(largest > bodyBytes && largest < 2 * bodyBytes);
  });

  test('wait longer than any answer takes, and less than they may spend on asking another node', () => {
    const seconds = (text: string, name: string) => Number(new RegExp(`${name} (\\d+)s`).exec(text)![1]);
    const answeredWithinS = 9;
    const silence = seconds(nginx, 'proxy_read_timeout');
    assert.ok(silence > answeredWithinS);
    assert.ok(seconds(nginx, 'proxy_next_upstream_timeout') > 2 * silence);
    const caddySilence = seconds(caddy, 'response_header_timeout');
    assert.ok(caddySilence > answeredWithinS);
    assert.ok(seconds(caddy, 'lb_try_duration') > caddySilence);
  });

  test('pass on to the port that the service takes', () => {
    for (const text of [nginx, caddy])
      assert.match(text, new RegExp(`\\b127\\.0\\.0\\.1:${DEFAULTS.port}\\b`));
  });

  test("the containers' Caddyfile is the other, with other names", () => {
    const named = body(caddy)
      .replace('\nhttp://pay.example {', '\nhttp://{$COUNTERFOIL_HOST} {')
      .replace('\npay.example {', '\n{$COUNTERFOIL_HOST} {')
      .replace('output file /var/log/caddy/counterfoil.log', 'output stdout')
      .replace("this machine's too, so that", "the nodes' too, so that")
      .replace('remote_ip 127.0.0.1 ', 'remote_ip 172.31.250.0/24 ')
      .replace(/\t# Whatever path[^\n]*\n[^\n]*\n/, '')
      .replace('127.0.0.1:8080', 'node-a:8080 node-b:8080');
    assert.equal(body(read('deploy/compose/Caddyfile')), named);
  });
});
