// The documents held to their own rules: an index of every page, short decisions, a README for the first ten minutes, paths that exist.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { commandsPage, indexPage, reviewingPage } from '../scripts/write-docs.ts';
import { ROOT } from './support/command.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const README_MAXIMUM_BYTES = 9 * 1024;
const DECISION_MAXIMUM_LINES = 60;

test('docs/README.md links every page, and lists the decisions that are there', () => {
  const index = read('docs/README.md');
  const pages = globSync('docs/**/*.md', { cwd: ROOT }).map((file) => relative('docs', file));
  assert.deepEqual(
    pages.filter((page) => page !== 'README.md' && !index.includes(`(${page})`)),
    [],
  );
  assert.equal(index, indexPage(index), 'run: npm run docs');
});

test('docs/reviewing.md shows the routine acts as they are, and who may do them', () => {
  const page = read('docs/reviewing.md');
  assert.equal(page, reviewingPage(page), 'run: npm run docs');
});

test('docs/commands.md shows every command as its help does', async () => {
  const page = read('docs/commands.md');
  assert.equal(page, await commandsPage(page), 'run: npm run docs');
});

test('each decision opens with the decision and is short', () => {
  for (const file of globSync('docs/decisions/*.md', { cwd: ROOT })) {
    const lines = read(file).trimEnd().split('\n');
    assert.match(lines[2]!, /^\*\*Decision\.\*\*/, file);
    assert.ok(lines.length <= DECISION_MAXIMUM_LINES, `${file}: ${lines.length} lines`);
  }
});

test('README.md is read in the first ten minutes', () => {
  assert.ok(Buffer.byteLength(read('README.md')) <= README_MAXIMUM_BYTES);
});

test('every path that CONTRIBUTING.md and the architecture page name is there', () => {
  for (const document of ['CONTRIBUTING.md', 'docs/architecture.md', 'docs/style.md']) {
    const paths = [...read(document).matchAll(/`([\w-]+\/[\w./-]*)`/g)].map(([, path]) => path!);
    assert.ok(paths.length > 0, document);
    const missing = paths.filter(
      (path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, 'src', path)),
    );
    assert.deepEqual(missing, [], document);
  }
});
