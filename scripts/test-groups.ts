// Puts test files together into processes: most of what a short file takes is the start of its process and code not yet compiled.
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** What a file contains that another file of its process would notice: it gets a process of its own. */
const NEEDS_OWN_PROCESS = new RegExp(
  [
    // Replaced for the whole process, and in some files not put back.
    'process\\.env\\.\\w+ = ',
    '(?<!\\.)mock\\.method\\(performance',
    'setDefaultCACertificates',
    // Measured of the whole process.
    'process\\.memoryUsage',
    // How long the event loop waits.
    'LOCK_HELD_MS',
  ].join('|'),
);
/** How many files a process runs, at most: one after another, so that more would leave a processor idle at the end. */
const TOGETHER = 10;

/** Writes files into the temporary folder that each run several of `files`. `alone`: files that get a process of their own, and start first. */
export function groupTests(files: readonly string[], alone: readonly string[]): string[] {
  const needOwn = files.filter(
    (file) => !alone.includes(file) && NEEDS_OWN_PROCESS.test(readFileSync(file, 'utf8')),
  );
  const shared = files.filter((file) => !alone.includes(file) && !needOwn.includes(file));
  const count = Math.ceil(shared.length / TOGETHER);
  const from = (place: number) => Math.round((place * shared.length) / count);
  // Neighbours in a folder run the same code, and share the hosts of commands.
  const groups = Array.from({ length: count }, (_, group) => shared.slice(from(group), from(group + 1)));
  return [...[...alone, ...needOwn].map((file) => [file]), ...groups].map((members, place) => {
    const path = join(tmpdir(), `together-${place + 1}.test.mjs`);
    writeFileSync(path, programOf(members));
    return path;
  });
}

/**
 * Each file is a suite, so that hooks outside a `describe` are of that file alone. While suites are built, node:test follows each promise of
 * the process to know which suite it belongs to. It goes on with that while tests run, for a fifth of their processor time, to name the test
 * of an error that nobody catches. Here it stops: such an error fails the file, and `npm test -- FILE` names the test.
 */
function programOf(members: readonly string[]): string {
  const paths = JSON.stringify(members.map((file) => [file, resolve(file)]));
  return `import hooks from 'node:async_hooks';
const files = ${paths};
const { createHook } = hooks;
let following;
hooks.createHook = (callbacks) => (following = createHook(callbacks));
const { describe } = await import('node:test');
let left = files.length;
for (const [name, path] of files)
  describe(name, async () => {
    await import(path);
    if (--left === 0) following.disable();
  });
hooks.createHook = createHook;
`;
}
