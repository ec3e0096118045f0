// Installs what package-lock.json names where it is not there yet; runs under any Node from 20 on, before anything else is.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/**
 * The packages of the lock file that npm's own record of what it installed lacks, those for other machines apart.
 * npm also succeeds where it cannot fetch an optional package, such as the one with the Node binary.
 */
function missing() {
  const there = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  return Object.entries(packagesOf(join(root, 'package-lock.json')))
    .filter(([path, locked]) => path !== '' && there[path]?.version !== locked.version)
    .filter(([path, locked]) => there[path] || !locked.optional || isForHere(locked))
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`);
}

if (missing().length > 0) {
  console.error('Installing the dependencies (once, about half a minute) …');
  // npm tells its scripts which npm is running; started by hand, the one on the PATH serves.
  const npm = process.env.npm_execpath ? [process.execPath, [process.env.npm_execpath]] : ['npm', []];
  // No package's own script runs: the lock file's hashes cover all that is installed.
  const options = ['--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  const install = spawnSync(npm[0], [...npm[1], 'ci', ...options, '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', process.stderr, process.stderr],
  });
  if (install.status !== 0) {
    console.error('npm ci failed; its message stands above.');
    process.exit(1);
  }
  const left = missing();
  if (left.length > 0) {
    console.error(
      `npm ci did not install ${left.join(', ')}. Check that the package registry is reachable, and repeat.`,
    );
    process.exit(1);
  }
}
