// What a person at a terminal sees and types: the banner, links and a command that work, Ctrl-C, and an old Node.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  ANSI,
  COMMAND,
  type Folder,
  hasTerminal,
  oldNode,
  plainEnvironment,
  plainText,
  ROOT,
  type Running,
  run,
  start,
  startOnTerminal,
  temporaryFolder,
} from '../../support/command.ts';
import { KEY } from '../../support/harness.ts';
import { eventually } from '../../support/waiting.ts';

const CTRL_C = '\x03';
const SERVE = `'${process.execPath}' '${COMMAND}' serve`;
let folder: Folder;
let running: Running[];
beforeEach(() => {
  folder = temporaryFolder();
  running = [];
});
afterEach(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGTERM');
    await ended;
  }
  folder.remove();
});

async function onTerminal(line: string, env: Record<string, string> = {}, until = /Ctrl-C stops it/) {
  const terminal = startOnTerminal(line, { cwd: folder.path, env: { PORT: '0', ...env } });
  running.push(terminal);
  await terminal.until(until);
  return terminal;
}

describe('on a terminal', { skip: !hasTerminal && 'this machine has no util-linux script' }, () => {
  test('the banner tells version, environment, addresses, key and where the data lies, in colour', async () => {
    const terminal = await onTerminal(SERVE);
    assert.match(terminal.stdout, ANSI);
    const banner = plainText(terminal.stdout);
    assert.match(banner, /counterfoil \d+\.\d+\.\d+ {2}ready in \d+\.\d s {2}development · 127\.0\.0\.1/);
    assert.match(banner, /Docs +http:\S+\/docs\n/);
    assert.match(banner, /Mail +http:\S+\/dev\/mail\n/);
    assert.match(banner, /Webhooks +http:\S+\/dev\/inbox\n/);
    assert.match(banner, /API +http:\/\/127\.0\.0\.1:\d+\/v1\n/);
    assert.match(banner, new RegExp(`API key +${KEY}\n`));
    assert.match(banner, /Register +http:\/\/127\.0\.0\.1:\d+\/register\n/);
    assert.match(banner, /Review it +http:\S+\/console\/set-up\?link=\w+\n +one-time set-up, 30 min\n/);
    assert.match(banner, /Data +\.\/storage \(SQLite; private, never served\)/);
    assert.match(banner, /Settings +\.\/counterfoil\.yaml/);
    for (const line of banner.split('\n')) assert.ok(line.length <= 100, `too wide: ${line}`);
  });

  test('its payment link opens, its addresses answer, and its command works as pasted', async () => {
    const terminal = await onTerminal(SERVE);
    const banner = plainText(terminal.stdout);
    const links = [...banner.matchAll(/^ {2}\w+(?: it)? +(http\S+)$/gm)].map(([, link]) => link!);
    assert.ok(links.length >= 7, banner);
    for (const link of links.filter((one) => !one.endsWith('/v1')))
      assert.equal((await fetch(link)).status, 200, link);
    const [command] = /^curl [\s\S]*?[^\\]$/m.exec(banner)!;
    const answer = execFileSync('sh', ['-c', command], { env: plainEnvironment(), encoding: 'utf8' });
    const { data } = JSON.parse(answer);
    assert.deepEqual([data.status, data.amount, data.currency], ['pending', '49.90', 'EUR']);
    assert.equal((await fetch(data.checkout_url)).status, 200);
    await terminal.until(/201.*POST.*\/v1\/payments/);
    await terminal.until(new RegExp(`● pending {2}49\\.90 EUR {2}\\S+${data.id}`));
    await terminal.until(/→ .*204.*webhook payment\.created/);
    await fetch(`${data.checkout_url}&lang=xx`);
    const { origin } = new URL(data.checkout_url);
    const headers = { authorization: `Bearer ${KEY}` };
    await fetch(`${origin}/v1/payments/${data.id}/cancel`, { method: 'POST', headers });
    await terminal.until(new RegExp(`● pending → cancelled {2}${data.id} {2}by merchant:`));
    assert.doesNotMatch(terminal.stdout, /payment\.php {2}/); // pages that succeed are no news
  });

  test('an empty store gets a payment in each status, once, and its history verifies', async () => {
    const statuses = async (terminal: Running) => {
      const { origin } = new URL(/http:\S+/.exec(plainText(terminal.stdout))![0]);
      const list = await fetch(`${origin}/v1/payments?limit=100`, {
        headers: { authorization: `Bearer ${KEY}` },
      });
      const { data } = (await list.json()) as { data: { status: string }[] };
      const endpoints = await fetch(`${origin}/v1/webhook_endpoints`, {
        headers: { authorization: `Bearer ${KEY}` },
      });
      const inbox = /Webhooks +(http\S+)/.exec(plainText(terminal.stdout))![1];
      for (const { url } of ((await endpoints.json()) as { data: { url: string }[] }).data)
        assert.equal(url, inbox, 'the inbox follows the port');
      terminal.child.stdin!.write(CTRL_C);
      await terminal.ended;
      return data.map(({ status }) => status).sort();
    };
    const each = ['approved', 'cancelled', 'cancelled', 'pending', 'rejected'];
    const first = await onTerminal(SERVE);
    assert.match(plainText(first.stdout), /^\s*counterfoil \d/, 'no event stands above the banner');
    assert.match(plainText(first.stdout), /demo: Development Shop .*\n.*development alone/);
    assert.deepEqual(await statuses(first), [...each, 'requires_review', 'requires_review']);
    const again = await onTerminal(SERVE);
    assert.doesNotMatch(again.stdout, /The demo/);
    assert.deepEqual(await statuses(again), [...each, 'requires_review', 'requires_review']);
    const verified = await run(['audit', 'verify'], { cwd: folder.path });
    assert.equal(verified.code, 0, verified.stderr + verified.stdout);
    rmSync(join(folder.path, 'storage'), { recursive: true });
    assert.deepEqual(await statuses(await onTerminal(`${SERVE} --no-demo`)), []);
  });

  test('keys open pages in the browser, make a payment, show the log as JSON, and quit', async () => {
    const opener = join(folder.path, process.platform === 'darwin' ? 'open' : 'xdg-open');
    writeFileSync(
      opener,
      `#!/bin/sh\necho "$@" > '${folder.path}/opened.new' && mv '${folder.path}/opened.new' "$0".$#\n`,
    );
    chmodSync(opener, 0o755);
    const env = { PATH: `${folder.path}${delimiter}${plainEnvironment().PATH}`, SSH_CONNECTION: '' };
    const terminal = await onTerminal(SERVE, env);
    await terminal.until(/keys: o .* a .* n .* j .* q /);
    const press = (letters: string) => terminal.child.stdin!.write(letters);
    press('o');
    await terminal.until(/○ \S+payment_id=/);
    press('n');
    await terminal.until(/● pending {2}49\.90 EUR/);
    press('a');
    await terminal.until(/○ \S+\/console\/set-up/);
    press('j');
    await terminal.until(/lines of JSON/);
    const { origin } = new URL(/http:\S+/.exec(plainText(terminal.stdout))![0]);
    await fetch(`${origin}/v1/payments`);
    await terminal.until(/\{"level":30.*"status":401/);
    press('q');
    assert.deepEqual(await terminal.ended, { code: 0, signal: null });
    await eventually(async () => existsSync(`${opener}.1`)); // no process waits for a browser
  });

  test('no key is listened for where standard input is no terminal', async () => {
    const terminal = await onTerminal(`${SERVE} < /dev/null`);
    await fetch(/http:\S+\/v1(?=\r?\n)/.exec(plainText(terminal.stdout))![0]);
    await terminal.until(/401/);
    assert.doesNotMatch(terminal.stdout, /keys: o/);
  });

  test('in the background of a shell it serves on, and in its foreground it takes keys', async () => {
    const terminal = await onTerminal('bash --norc -i', {}, /[$#] /);
    const type = (text: string) => terminal.child.stdin!.write(text);
    type(`${SERVE} --no-demo &\n`);
    await terminal.until(/keys: o/);
    type('jobs\n');
    assert.match((await terminal.until(/\[1\]\+ {2}(\w+)/))[1]!, /Running/);
    type('fg\n');
    await terminal.until(/serve --no-demo\r/);
    type('j');
    await terminal.until(/lines of JSON/);
    type('q');
    await terminal.until(/Stopped\. What was accepted/);
    type('exit\n');
    await terminal.ended;
  });

  test('Ctrl-C stops it cleanly', async () => {
    const terminal = await onTerminal(SERVE);
    terminal.child.stdin!.write(CTRL_C);
    assert.deepEqual(await terminal.ended, { code: 0, signal: null });
    assert.match(terminal.stdout, /Stopped\. What was/);
  });
});

const hasNamespaces = spawnSync('unshare', ['-rpf', 'true']).status === 0;
test('a signal ends a command midway, as process 1 of a container too', {
  skip: !hasNamespaces && 'this system gives its users no namespaces (unshare -rpf)',
}, () => {
  for (const [signal, status] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const program = `const { tellInterrupted } = await import('${ROOT}/src/operate/commands/terminal.ts');
      setTimeout(() => process.kill(process.pid, '${signal}'), 10);
      await tellInterrupted('a line', () => new Promise((done) => setTimeout(done, 60_000)));`;
    const args = ['--input-type=module', '--eval', program];
    const asFirst = spawnSync('unshare', ['-rpf', process.execPath, ...args], { encoding: 'utf8' });
    assert.deepEqual([asFirst.status, asFirst.stderr], [status, 'counterfoil: interrupted: a line\n']);
    assert.equal(spawnSync(process.execPath, args).signal, signal);
  }
});

describe('under an old Node', { skip: !oldNode && 'this machine has no old Node' }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`the wrapper passes ${signal} on and exits as the server does`, async () => {
      const wrapper = start(oldNode!, [COMMAND, 'serve'], { cwd: folder.path, env: { PORT: '0' } });
      running.push(wrapper);
      const [line] = await wrapper.until(/^\{"event":"ready".*\n/);
      const { base_url } = JSON.parse(line);
      assert.equal((await fetch(`${base_url}/health`)).status, 200);
      wrapper.child.kill(signal);
      assert.deepEqual(await wrapper.ended, { code: 0, signal: null });
      await assert.rejects(fetch(`${base_url}/health`));
    });
  }

  test('the wrapper hands on arguments, output and the exit code', async () => {
    const wrong = start(oldNode!, [COMMAND, 'keys', 'list', '--config', 'none.yaml'], { cwd: folder.path });
    assert.deepEqual(await wrong.ended, { code: 78, signal: null });
    assert.match(wrong.stderr, /^counterfoil: none\.yaml: does not exist/);
  });
});
