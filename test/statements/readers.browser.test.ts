// The readers of bank files as they are published, in a browser: every file of their tests gives there what it gives in Node.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readStatements } from '#bank-statements';
import { startChromium } from '../support/chromium.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'packages/bank-statements');
const MODULES = join(ROOT, 'node_modules');
const IMPORTS = {
  saxes: '/saxes.js',
  fflate: '/node_modules/fflate/esm/browser.js',
  ibantools: '/node_modules/ibantools/jsnext/ibantools.js',
  '@noble/hashes/': '/node_modules/@noble/hashes/',
};
const PAGE = `<!doctype html><meta charset="utf-8"><script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>`;

/** `saxes` with what it requires as one module, as a bundler makes it. */
function saxes(): string {
  const files = [
    'saxes/saxes',
    ...['xml/1.0/ed5', 'xml/1.1/ed2', 'xmlns/1.0/ed3'].map((name) => `xmlchars/${name}`),
  ];
  const bodies = files.map((file) => {
    const name = JSON.stringify(file === 'saxes/saxes' ? 'saxes' : file);
    return `${name}(module, exports, require) {${readFileSync(join(MODULES, `${file}.js`), 'utf8')}\n}`;
  });
  return `const all = {${bodies}};
const require = (name) => { const module = { exports: {} }; all[name](module, module.exports, require); return module.exports; };
export const { SaxesParser } = require('saxes');`;
}

/** The files of the package's tests, those of its tables as well. */
const files = [
  ...globSync('test/corpus/*.{xml,sta,ofx,csv,zip}', { cwd: PACKAGE }).map((file) =>
    readFileSync(join(PACKAGE, file)),
  ),
  ...['exports.txt', 'files.txt'].flatMap((name) =>
    readFileSync(join(PACKAGE, 'test', name), 'utf8')
      .split(/\n(?=# )/)
      .map((block) =>
        Buffer.from(
          block
            .split('\n')
            .filter((row) => !/^[#=?] /.test(row))
            .join('\n'),
        ),
      ),
  ),
];

test('every file gives in a browser what it gives in Node', async () => {
  const compiled = mkdtempSync(join(tmpdir(), 'readers-'));
  const build = ['-p', join(PACKAGE, 'tsconfig.build.json'), '--removeComments', '--outDir', compiled];
  execFileSync(join(MODULES, '.bin/tsc'), build);
  execFileSync(process.execPath, [join(PACKAGE, 'unindent.js'), compiled]);
  const server = createServer(({ url = '' }, response) => {
    if (url === '/') return void response.setHeader('content-type', 'text/html').end(PAGE);
    const path = url.startsWith('/node_modules/') ? join(ROOT, url) : join(compiled, url);
    response.setHeader('content-type', 'text/javascript');
    response.end(url === '/saxes.js' ? saxes() : readFileSync(path, 'utf8'));
  });
  const browser = await startChromium();
  try {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const read = await page.evaluate(
      async (all) => {
        const index: string = '/index.js';
        const readers = await import(index);
        return all.map((text) => {
          const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
          return JSON.stringify(readers.readStatements(bytes, 'x'));
        });
      },
      files.map((file) => file.toString('base64')),
    );
    assert.ok(files.length > 150);
    for (const [i, file] of files.entries()) assert.equal(read[i], JSON.stringify(readStatements(file, 'x')));
  } finally {
    await browser.close();
    server.close();
    rmSync(compiled, { recursive: true, force: true });
  }
});
