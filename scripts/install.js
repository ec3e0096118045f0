// Installs the packages of package-lock.json that are missing. Runs under any Node from 20 on, before anything else does.
// Without an argument: the packages that the service runs on. `--all`: also the tools and the tests' PostgreSQL and browser.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The oldest Node and SQLite that the service runs on. An older machine gets the Node of package-lock.json. */
const OLDEST = { node: [26, 0, 0], sqlite: [3, 51, 3] };

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {};
}

/** Whether a package is for this machine. A package may name the operating systems, processors and C libraries it is for. */
function isForHere({ os = process.platform, cpu = process.arch, libc = [] }) {
  if (!os.includes(process.platform) || !cpu.includes(process.arch)) return false;
  const isGlibc = libc.includes('glibc');
  return libc.length === 0 || isGlibc === Boolean(process.report.getReport().header.glibcVersionRuntime);
}

function isAtLeast(version, oldest) {
  const parts = version.split('.').map(Number);
  const at = oldest.findIndex((part, index) => parts[index] !== part);
  return at === -1 || parts[at] > oldest[at];
}

const { node, sqlite = '0' } = process.versions;
const isNewEnough = isAtLeast(node, OLDEST.node) && isAtLeast(sqlite, OLDEST.sqlite);
const there = () => packagesOf(join(root, 'node_modules', '.package-lock.json'));
const before = there();
const locked = Object.entries(packagesOf(join(root, 'package-lock.json'))).filter(([path]) => path !== '');
const has = (kind) => locked.some(([path, one]) => kind(one) && before[path]);
// A kind of package that is installed stays, so that a start after a test keeps the tools.
const wantsTools = process.argv.includes('--all') || has((one) => one.dev);
const wantsNode = wantsTools || !isNewEnough || has((one) => one.optional && !one.dev);

/**
 * The wanted packages that npm's own record of what it installed lacks, without those for other machines.
 * npm also succeeds where it cannot fetch an optional package, such as the one with the Node binary.
 */
function missing() {
  const found = there();
  return locked
    .filter(([, { dev, devOptional }]) => wantsTools || !(dev || devOptional))
    .filter(([, { optional }]) => wantsNode || !optional)
    .filter(([path, one]) => found[path]?.version !== one.version)
    .filter(([path, one]) => found[path] || !one.optional || isForHere(one))
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`);
}

if (missing().length > 0) {
  const kind = (name, isWanted) => `--${isWanted ? 'include' : 'omit'}=${name}`;
  console.error(
    wantsTools
      ? 'Installing the dependencies with the tools, a browser and a PostgreSQL for tests (once) …'
      : `Installing the dependencies${wantsNode ? ` and Node ${OLDEST.node[0]}` : ''} (once) …`,
  );
  // npm tells its scripts which npm is running; started by hand, the one on the PATH serves.
  const npm = process.env.npm_execpath ? [process.execPath, [process.env.npm_execpath]] : ['npm', []];
  // `npm ci` empties node_modules, from which a service may be running: packages are added to those that are there.
  const command = Object.keys(before).length > 0 ? ['install', '--no-save'] : ['ci'];
  // No package's own script runs: the lock file's hashes cover all that is installed.
  const options = ['--ignore-scripts', kind('dev', wantsTools), kind('optional', wantsNode)];
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const install = spawnSync(npm[0], [...npm[1], ...command, ...options, ...quiet], {
    cwd: root,
    stdio: ['ignore', process.stderr, process.stderr],
  });
  if (install.status !== 0) {
    console.error(`npm ${command[0]} failed; its message stands above.`);
    process.exit(1);
  }
  const left = missing();
  if (left.length > 0) {
    console.error(
      `npm ${command[0]} did not install ${left.join(', ')}. Check that the package registry is reachable, and repeat.`,
    );
    process.exit(1);
  }
}
