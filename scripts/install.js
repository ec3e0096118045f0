// Installs what package-lock.json names where it is not there yet; runs under any Node from 20 on, before anything else is.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {};
}

/** Whether npm's own record of what it installed has every package of the lock file, those for other machines apart. */
function isInstalled() {
  const there = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  return Object.entries(packagesOf(join(root, 'package-lock.json'))).every(
    ([path, { version, optional }]) =>
      path === '' || there[path]?.version === version || (optional && !there[path]),
  );
}

if (!isInstalled()) {
  console.error('Installing the dependencies (once, about half a minute) …');
  // npm tells its scripts which npm is running; started by hand, the one on the PATH serves.
  const npm = process.env.npm_execpath ? [process.execPath, [process.env.npm_execpath]] : ['npm', []];
  const install = spawnSync(npm[0], [...npm[1], 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', process.stderr, process.stderr],
  });
  if (install.status !== 0) {
    console.error('npm ci failed; its message stands above.');
    process.exit(1);
  }
}
