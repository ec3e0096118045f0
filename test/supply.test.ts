// What is installed is what package-lock.json names: every package by its hash, the Node that runs it too, and no script on the way.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import packageJson from '../package.json' with { type: 'json' };
import lockFile from '../package-lock.json' with { type: 'json' };
import { plainEnvironment, ROOT } from './support/command.ts';
import { freePort } from './support/free-ports.ts';

/** A package as the lock file names it. */
interface Locked {
  version: string;
  integrity?: string;
  resolved?: string;
  dev?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
  link?: boolean;
}

/** Without our own packages, which are installed from their folders. */
const locked = Object.entries(lockFile.packages as unknown as Record<string, Locked>).filter(
  ([path, { link }]) => path.includes('node_modules/') && !link,
);
const nodes = Object.entries(packageJson.optionalDependencies);

test('package-lock.json names every package by one version and its hash, and no address', () => {
  assert.ok(locked.length > 100);
  for (const [path, { version, integrity, resolved }] of locked) {
    assert.match(version, /^\d+\.\d+\.\d+/, path);
    assert.match(integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/, path);
    assert.equal(resolved, undefined, `${path}: a hash and no address`);
  }
});

test('no package that production installs has an install script, and none runs in development', () => {
  const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript);
  for (const [path, { dev }] of scripted) assert.ok(dev, `${path} has an install script`);
  assert.ok(!('allowScripts' in packageJson));
});

/** What `npm ci --omit=dev --omit=optional` installs: neither tools nor the Node binary. */
const production = locked.filter(([, { dev, optional }]) => !dev && !optional).map(([path]) => path);

/** Bytes of a package's files, without the packages inside it. */
function sizeOf(path: string): number {
  let bytes = 0;
  for (const entry of readdirSync(join(ROOT, path), { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    const inside = join(path, entry.name);
    bytes += entry.isDirectory() ? sizeOf(inside) : lstatSync(join(ROOT, inside)).size;
  }
  return bytes;
}

test('production runs no machine code but that of Node', () => {
  const native = production.flatMap((path) => globSync(`${path}/**/*.{node,gyp}`, { cwd: ROOT }));
  assert.deepEqual(native, []);
});

test('production has at most 100 packages of at most 60 MB, as many as docs/security/dependencies.md says', () => {
  const bytes = production.reduce((sum, path) => sum + sizeOf(path), 0);
  assert.ok(production.includes('node_modules/fastify') && bytes > 10e6, `${bytes} bytes`);
  assert.ok(production.length <= 100, `${production.length} packages`);
  assert.ok(bytes <= 60e6, `${Math.round(bytes / 1e6)} MB`);
  const document = readFileSync(join(ROOT, 'docs/security/dependencies.md'), 'utf8');
  const [, packages, megabytes] = /production runs: (\d+) packages, (\d+) MB of files/.exec(document)!;
  assert.equal(Number(packages), production.length);
  assert.ok(Math.abs(Number(megabytes) - bytes / 1e6) < 1, `${bytes} bytes`);
  const [, watched] = /\| What it reads \|\n\|---\|---\|\n(.*)/s.exec(document)!;
  const named = [...watched!.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) => [
    ...cell!.matchAll(/`([^`]+)`/g),
  ]);
  assert.ok(named.length > 8);
  for (const [, name] of named) assert.ok(production.includes(`node_modules/${name}`), String(name));
});

test('the Node of package-lock.json is one exact version on every machine, and this test runs on it', () => {
  assert.deepEqual([...new Set(nodes.map(([, version]) => version))], [process.versions.node]);
  const bundled = realpathSync(join(ROOT, 'node_modules/.bin/node'));
  const name = nodes.map(([one]) => one).find((one) => bundled.includes(`/node_modules/${one}/`));
  assert.ok(name?.endsWith(`-${process.platform}-${process.arch}`), bundled);
  assert.equal(realpathSync(process.execPath), bundled);
  assert.equal(execFileSync(bundled, ['--version'], { encoding: 'utf8' }), `v${process.versions.node}\n`);
  assert.equal(locked.find(([path]) => path === `node_modules/${name}`)?.[1].version, process.versions.node);
});

/** A folder whose lock file names the Node for this machine alone. */
function folderWithLock(): { folder: string; name: string; version: string } {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-install-'));
  const [name, version] = nodes.find(([one]) => one.endsWith(`-${process.platform}-${process.arch}`))!;
  const root = { name: 'part', version: '1.0.0', optionalDependencies: { [name]: version } };
  const packages = lockFile.packages as unknown as Record<string, Locked>;
  mkdirSync(join(folder, 'scripts'));
  cpSync(join(ROOT, 'scripts/install.js'), join(folder, 'scripts/install.js'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...root, type: 'module' }));
  const path = `node_modules/${name}`;
  const lock = { name: 'part', lockfileVersion: 3, packages: { '': root, [path]: packages[path] } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  return { folder, name, version };
}

const OLD_NODE = `--import=data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })",
)}`;
const OLD_SQLITE = OLD_NODE.replace(
  encodeURIComponent("node: '20.20.2'"),
  encodeURIComponent("sqlite: '3.51.2'"),
);
const WITHOUT = ['ci', '--omit=dev', '--omit=optional'];
const WITH_NODE = ['ci', '--omit=dev', '--include=optional'];
const ALL = ['ci', '--include=dev', '--include=optional'];
const ADDED = (kinds: string[]) => ['install', '--no-save', ...kinds.slice(1)];

test('npm start installs neither tools nor a second Node, npm test all, and neither removes what is there', () => {
  const { folder, name } = folderWithLock();
  const lockPath = join(folder, 'package-lock.json');
  const lock = JSON.parse(readFileSync(lockPath, 'utf8'));
  lock.packages['node_modules/service'] = { version: '1.0.0' };
  lock.packages['node_modules/tool'] = { version: '1.0.0', dev: true };
  writeFileSync(lockPath, JSON.stringify(lock));
  const npm = join(folder, 'npm.cjs');
  writeFileSync(npm, 'console.error(JSON.stringify(process.argv.slice(2))); process.exit(1);');
  const service = ['service'];
  const cases: [argument: string[], node: string, there: string[], runs: string[] | null][] = [
    [[], '', [], WITHOUT],
    [[], OLD_NODE, [], WITH_NODE],
    [[], OLD_SQLITE, [], WITH_NODE],
    [['--all'], '', [], ALL],
    [[], '', service, null],
    [[], OLD_NODE, service, ADDED(WITH_NODE)],
    [['--all'], '', service, ADDED(ALL)],
    [[], '', [name], ADDED(WITH_NODE)],
    [[], '', ['tool', name], ADDED(ALL)],
    [['--all'], '', ['service', 'tool', name], null],
  ];
  mkdirSync(join(folder, 'node_modules'));
  for (const [argument, node, there, runs] of cases) {
    const found = there.map((one) => [`node_modules/${one}`, lock.packages[`node_modules/${one}`]]);
    const record = { packages: Object.fromEntries(found) };
    writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify(record));
    const options = node ? [node] : [];
    const { stderr } = spawnSync(process.execPath, [...options, 'scripts/install.js', ...argument], {
      cwd: folder,
      env: plainEnvironment({ npm_execpath: npm }),
      encoding: 'utf8',
    });
    const [line] = /^\[.*\]$/m.exec(stderr) ?? ['null'];
    const given = JSON.parse(line) as string[] | null;
    const label = `${argument} on ${decodeURIComponent(node)} with ${there}: ${stderr}`;
    assert.deepEqual(
      given?.filter((one) => !/^--(ignore-scripts|no-audit|no-fund|loglevel)/.test(one)) ?? null,
      runs,
      label,
    );
    assert.ok(given?.includes('--ignore-scripts') ?? true, label);
  }
  rmSync(folder, { recursive: true, force: true });
});

test('the installation fails and names the package where npm leaves out the Node binary', async () => {
  const { folder, name, version } = folderWithLock();
  const env = plainEnvironment({
    npm_config_registry: `http://127.0.0.1:${await freePort()}`,
    npm_config_cache: join(folder, 'cache'),
    npm_config_fetch_retries: '0',
  });
  const { status, stderr } = spawnSync(process.execPath, ['scripts/install.js', '--all'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true, force: true });
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`npm ci did not install ${name} ${version}\\. Check`));
});

test('npm run sbom names every package of production with its hash, and nothing else', () => {
  const bom = JSON.parse(
    execFileSync(process.execPath, ['scripts/sbom.ts'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 }),
  );
  assert.equal(bom.bomFormat, 'CycloneDX');
  const { name, type, version } = bom.metadata.component;
  assert.deepEqual([name, type, version], ['counterfoil', 'application', packageJson.version]);
  const packages = lockFile.packages as unknown as Record<string, Locked>;
  const expected = production.map((path) => {
    const { version, integrity } = packages[path]!;
    const [, digest] = integrity!.split('-');
    return `${path.replace(/^.*node_modules\//, '')} ${version} ${Buffer.from(digest!, 'base64').toString('hex')}`;
  });
  const named = bom.components.map(
    (one: { name: string; version: string; hashes: { alg: string; content: string }[] }) =>
      `${one.name} ${one.version} ${one.hashes.find(({ alg }) => alg === 'SHA-512')!.content}`,
  );
  assert.deepEqual(named.sort(), expected.sort());
  const refs = new Set(bom.components.map((one: { 'bom-ref': string }) => one['bom-ref']));
  for (const { dependsOn } of bom.dependencies) for (const ref of dependsOn) assert.ok(refs.has(ref), ref);
});
