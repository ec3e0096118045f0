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

/** Writes files into the temporary folder that each run several of `files`. Returns these and what needs a process of its own. */
export function groupTests(files: readonly string[]): { groups: string[]; others: string[] } {
  const others = files.filter((file) => NEEDS_OWN_PROCESS.test(readFileSync(file, 'utf8')));
  const shared = files.filter((file) => !others.includes(file));
  const count = Math.ceil(shared.length / TOGETHER);
  const groups = Array.from({ length: count }, (_, group) => {
    // Neighbours in a folder run the same code, and share the hosts of commands.
    const from = (place: number) => Math.round((place * shared.length) / count);
    const members = shared.slice(from(group), from(group + 1));
    const path = join(tmpdir(), `together-${group + 1}.test.mjs`);
    writeFileSync(path, programOf(members));
    return path;
  });
  return { groups, others };
}

/** Each file is a suite, so that hooks outside a `describe` are of that file alone. */
function programOf(members: readonly string[]): string {
  const suites = members.map(
    (file) => `describe('${file}', async () => void (await import('${resolve(file)}')));\n`,
  );
  return ["import { describe } from 'node:test';\n", ...suites].join('');
}
