// A whole installation as docs/operating/install.md has it: `npm ci` of what package-lock.json names, no script, and the service from it.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { plainEnvironment, ROOT, type Running, start, temporaryFolder } from '../support/command.ts';
import { ask } from '../support/harness.ts';

const INSTALL = 'npm ci --omit=dev --ignore-scripts';
const INSTALLS_WITHIN_MS = 240_000;
const STARTS_WITHIN_MS = 60_000;
const NODE = `node_modules/node-${process.platform}-${process.arch}`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-installation-'));
  for (const part of ['bin', 'src', 'packages', 'package.json', 'package-lock.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs npm in the folder, with nothing of this repository on the PATH. What npm has in its cache it does not fetch again. */
function npm(line: string, endWithinMs: number, extra: Record<string, string> = {}): Running {
  const path = process.env.PATH!.split(delimiter).filter((one) => !one.startsWith(ROOT));
  const environment = plainEnvironment({
    PATH: path.join(delimiter),
    npm_config_prefer_offline: 'true',
    ...extra,
  });
  const [, ...args] = line.split(' ');
  return start('npm', args, { cwd: folder, environment, endWithinMs });
}

async function install(): Promise<{ code: number | null; said: string }> {
  const running = npm(INSTALL, INSTALLS_WITHIN_MS);
  const { code } = await running.ended;
  return { code, said: running.stdout + running.stderr };
}

/** Writes another hash for a package into the lock file. */
function spoilHash(path: string): void {
  const file = join(folder, 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  lock.packages[path].integrity = `sha512-${'A'.repeat(86)}==`;
  writeFileSync(file, JSON.stringify(lock));
}

test('what npm ci installs without a script serves payments, and runs on the Node that it installed', async () => {
  assert.ok(readFileSync(join(ROOT, 'docs/operating/install.md'), 'utf8').includes(`\n${INSTALL}\n`));
  const { code, said } = await install();
  assert.equal(code, 0, said);
  const { config, remove } = temporaryFolder();
  const environment = { COUNTERFOIL_CONFIG: config, PORT: '0' };
  const server = npm('npm start --ignore-scripts', STARTS_WITHIN_MS, environment);
  try {
    const [ready] = await server.until(/^\{.*"event":"ready".*$/m);
    if (process.platform === 'linux')
      assert.equal(programOf(server.child.pid!), realpathSync(join(folder, NODE, 'bin/node')));
    const made = { method: 'POST', body: { amount: 1 } };
    const { status, text } = await ask(JSON.parse(ready).base_url, '/v1/payments', made);
    assert.equal(status, 201, text);
  } finally {
    server.child.kill('SIGTERM');
    await server.ended;
    remove();
  }
});

test('no package is installed whose hash is another one, and neither is the Node binary', async () => {
  spoilHash('node_modules/fastify');
  const { code, said } = await install();
  assert.notEqual(code, 0);
  assert.match(said, /EINTEGRITY/);
  cpSync(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'));
  spoilHash(NODE);
  await install(); // npm leaves out an optional package that it refuses
  assert.ok(existsSync(join(folder, 'node_modules/fastify')), 'the others are there');
  assert.equal(existsSync(join(folder, NODE)), false);
});

/** The program file of the newest descendant of a process. npm starts a shell, which becomes Node. */
function programOf(pid: number): string {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return child ? programOf(Number(child)) : realpathSync(`/proc/${pid}/exe`);
}
