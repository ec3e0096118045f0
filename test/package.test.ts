// The program as packages carry it: below node_modules, without types, complete, and serving from an empty folder.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { completionText, manualPage } from '../scripts/command-pages.ts';
import { writeProgram } from '../scripts/program-folder.ts';
import { oldNode, plainEnvironment, ROOT, run, start } from './support/command.ts';
import { KEY } from './support/harness.ts';

const BLOCK_BYTES = 4096;
const INSTALLED_BYTES = 25e6;

let folder: string;
let program: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-package-'));
  program = join(folder, 'node_modules/counterfoil');
  writeProgram(program);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const modules = () => globSync('{src,packages}/**/*.js', { cwd: program });
/** What a module names of others: by an import, or by a URL beside itself. */
const NAMED =
  /^(?:import|export|\})(?: .*)? from '([^']+)'|\bimport\('([^']+)'\)|\bnew URL\('([^']+)', import\.meta\.url\)/gm;

test('every module of src/ is there without types, and every file it names', () => {
  const typed = execFileSync('git', ['ls-files', 'src', 'packages/*/src'], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');
  const absent = typed.filter((file) => !existsSync(join(program, file.replace(/\.ts$/, '.js'))));
  assert.deepEqual(absent, []);
  assert.deepEqual(globSync('**/*.ts', { cwd: program }), []);
  const { imports, bin, dependencies } = JSON.parse(readFileSync(join(program, 'package.json'), 'utf8'));
  const named = modules().flatMap((file) => {
    const text = readFileSync(join(program, file), 'utf8');
    const paths = [...text.matchAll(NAMED)];
    return paths.map(([, one, two, three]) => ({ file, name: (one ?? two ?? three)! }));
  });
  assert.ok(named.length > 2000, `${named.length} imports are found`);
  const isThere = ({ file, name }: { file: string; name: string }) => {
    const target: string = name.startsWith('#') ? imports[name] : join(dirname(file), name);
    const [scope, rest] = name.split('/');
    const owner = name.startsWith('@') ? `${scope}/${rest}` : scope!;
    const isInstalled = owner in dependencies && existsSync(join(program, 'node_modules', owner));
    return isInstalled || isBuiltin(name) || existsSync(join(program, target));
  };
  assert.deepEqual(
    named.filter((one) => !isThere(one)),
    [],
  );
  assert.ok(existsSync(join(program, bin.counterfoil)));
});

test('it is at most 25 MB on a disk, with each licence', () => {
  const files = globSync('**', { cwd: program }).map((file) => lstatSync(join(program, file)));
  const bytes = files.reduce((sum, { size }) => sum + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES, 0);
  assert.ok(bytes > 10e6 && bytes <= INSTALLED_BYTES, `${bytes} bytes`);
  const licences = (root: string) =>
    globSync('node_modules/**/{LICEN,licen,Licen}*', { cwd: root, exclude: ['**/.*'] });
  const packages = globSync('node_modules/**/package.json', { cwd: program }).map((one) => dirname(one));
  const ours = new Set(licences(program));
  const lacking = licences(ROOT).filter((one) => packages.includes(dirname(one)) && !ours.has(one));
  assert.deepEqual(lacking, []);
});

test('in an empty folder it serves a first try, and not where a store lost its configuration', async () => {
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  const command = join(program, 'bin/counterfoil.js');
  const server = start(process.execPath, [command, 'serve'], { cwd: empty, env: { PORT: '0' } });
  const [ready] = await server.until(/^\{.*"event":"ready".*$/m);
  const { base_url, storage } = JSON.parse(ready);
  const answer = await fetch(`${base_url}/v1/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: '{"amount": 1}',
  });
  assert.equal(answer.status, 201);
  assert.equal(relative(empty, storage), 'storage');
  server.child.kill('SIGTERM');
  await server.ended;
  rmSync(join(empty, 'counterfoil.yaml'));
  const again = await run(['serve'], { cwd: empty });
  assert.deepEqual([again.code, existsSync(join(empty, 'counterfoil.yaml'))], [78, false], again.stderr);
});

test('an older Node than 26 runs it by the Node beside it, or names how to get that', {
  skip: !oldNode && 'no older Node here',
}, () => {
  const ask = () =>
    spawnSync(oldNode!, [join(program, 'bin/counterfoil.js'), '--version'], {
      encoding: 'utf8',
      env: plainEnvironment(),
    });
  assert.match(ask().stderr, /Node 26 is needed.* npm install --include=optional/);
  const name = `node-${process.platform}-${process.arch}`;
  const binary = join(folder, 'node_modules', name, 'bin/node');
  mkdirSync(dirname(binary), { recursive: true });
  writeFileSync(binary, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
  const { version } = JSON.parse(readFileSync(join(program, 'package.json'), 'utf8'));
  assert.equal(ask().stdout, `${version}\n`);
});

test('a dirty tree is not packaged, and npm pack names what packages', () => {
  const clone = join(folder, 'clone');
  mkdirSync(join(clone, 'scripts'), { recursive: true });
  for (const file of ['package.json', 'src', 'scripts'])
    cpSync(join(ROOT, file), join(clone, file), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  execFileSync('git', ['init', '--quiet'], { cwd: clone });
  const { status, stderr } = spawnSync(process.execPath, ['scripts/package.ts'], {
    cwd: clone,
    encoding: 'utf8',
  });
  assert.deepEqual([status, existsSync(join(clone, 'dist'))], [1, false], stderr);
  assert.match(stderr, /package\.json/);
});

test('the manual page has every command, and bash completes commands and options by their help', async () => {
  const manual = (await manualPage(new Date(0))).replaceAll('\\-', '-');
  const rows = readFileSync(join(ROOT, 'docs/commands.md'), 'utf8').matchAll(/^\| `([a-z][a-z -]*)/gm);
  for (const [, command] of rows)
    assert.ok(manual.includes(`.SS counterfoil ${command!.replace(/ -.*| $/, '')}\n`), command!);
  assert.match(manual, /^\.SS counterfoil audit verify\n\.nf\nUsage: counterfoil audit verify /m);
  const complete = (...words: string[]) =>
    execFileSync(
      'bash',
      [
        '-c',
        `${text}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _counterfoil; echo "\${COMPREPLY[*]}"`,
        'bash',
        ...words,
      ],
      { encoding: 'utf8' },
    ).trim();
  const text = await completionText();
  assert.equal(complete('counterfoil', 'doc'), 'doctor');
  assert.equal(complete('counterfoil', 'audit', 'ver'), 'verify');
  assert.equal(complete('counterfoil', 'keys', 'create', '--merchant', 'x', '--liv'), '--live');
});
