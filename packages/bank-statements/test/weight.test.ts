// What the package weighs, compiled as it is published: at most 60 KB in gzip without its dependencies.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const ROOT = join(import.meta.dirname, '..');
const MAXIMUM = 60_000;

test('all modules together are at most 60,000 bytes in gzip', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weight-'));
  try {
    const { build } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts;
    const [compile, unindent] = build.split(' && ').map((command: string) => command.split(' '));
    const run = ([program, ...args]: string[]) =>
      execFileSync(program!, args, {
        cwd: ROOT,
        env: { ...process.env, PATH: `${join(ROOT, '../../node_modules/.bin')}:${process.env.PATH}` },
      });
    run([...compile, '--outDir', folder]);
    run([...unindent.slice(0, -1), folder]);
    const modules = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    assert.ok(modules.length > 30);
    const bytes = gzipSync(Buffer.concat(modules), { level: 9 }).length;
    assert.ok(bytes <= MAXIMUM, `${bytes} bytes`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
