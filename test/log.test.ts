// The log where it cannot be written: a full disk costs lines, never answers, and a stop comes to its end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { COMMAND, DEVELOPMENT, plainEnvironment, temporaryFolder } from './support/command.ts';
import { freePort } from './support/free-ports.ts';
import { KEY } from './support/harness.ts';
import { eventually } from './support/waiting.ts';

const LOG = fileURLToPath(new URL('../src/lib/log.ts', import.meta.url));

/** Starts a program whose standard output is a file or pipe of the test's choice. */
function start(args: string[], stdout: number | 'pipe', env: Record<string, string> = {}) {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', stdout, 'pipe'],
    env: plainEnvironment(env),
  });
  const said = { stderr: '' };
  child.stderr!.on('data', (bytes) => (said.stderr += bytes));
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, said, ended };
}

test('with a full disk under its log the server answers on, says so once, and stops', {
  skip: !existsSync('/dev/full'),
}, async () => {
  const folder = temporaryFolder(`${DEVELOPMENT}\nlog_level: info\n`);
  const port = await freePort();
  const { child, said, ended } = start(
    [COMMAND, 'serve', '--config', folder.config],
    openSync('/dev/full', 'w'),
    { PORT: String(port), COUNTERFOIL_STORAGE: join(folder.path, 'data') },
  );
  try {
    const ask = (path: string) =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${KEY}` } });
    await eventually(async () => {
      assert.equal(child.exitCode, null, said.stderr);
      return (await ask('/health').catch(() => undefined)) !== undefined;
    });
    // More than is gathered before a write, and longer than lines are kept back.
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 100; i++) assert.equal((await ask('/v1/payments')).status, 200);
      await after(700);
    }
    assert.equal((await ask('/health')).status, 200);
    child.kill('SIGTERM');
    assert.equal(await ended, 0);
    assert.equal(said.stderr.match(/log lines are dropped/g)?.length, 1, said.stderr);
    assert.match(said.stderr, /ENOSPC/);
  } finally {
    child.kill('SIGKILL');
    folder.remove();
  }
});

const program = (body: string) => [
  '--input-type=module',
  '--eval',
  `import { createLogger } from ${JSON.stringify(LOG)}; const log = createLogger('info'); ${body}`,
];

test('the last flush is given up where it fails', async () => {
  const many =
    "for (let i = 0; i < 5000; i++) log.info({ i }, 'x'.repeat(100)); log.flush(); process.exit(0);";
  const full = start(program(many), openSync('/dev/full', 'w'));
  assert.equal(await full.ended, 0, full.said.stderr);
});

test('every line is written once however the process ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-log-'));
  try {
    for (const [name, end] of [
      ['flush', 'log.flush(); process.exit(0)'],
      ['exit', 'process.exit(0)'],
      ['by itself', ''],
    ] as const) {
      const file = join(folder, name);
      const body = `for (let i = 0; i < 3000; i++) { log.info({ i }, 'ü'.repeat(20)); if (i % 500 === 0) await new Promise((go) => setTimeout(go, 5)); } ${end}`;
      const { ended, said } = start(program(body), openSync(file, 'w'));
      assert.equal(await ended, 0, said.stderr);
      const numbers = readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).i)
        .sort((a, b) => a - b); // the last flush may overtake a write under way
      assert.deepEqual(
        numbers,
        Array.from({ length: 3000 }, (_, i) => i),
        name,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
