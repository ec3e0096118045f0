// Puts test files together into processes: most of what a short file takes is the start of its process and code not yet compiled.
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * What a file contains that needs a process of its own: hooks and waiting outside a `describe` (they would be those of all files of the
 * process), everything about a process (its environment, signals, folder and memory, and other programs), a browser, and a clock that is
 * read closely.
 */
const NEEDS_OWN_PROCESS = new RegExp(
  [
    '^(before|after|beforeEach|afterEach)\\(',
    '^(const|let) .*\\bawait ',
    '^await ',
    '\\bprocess\\.',
    '\\bglobalThis\\b',
    '\\bperformance\\.',
    '\\bmock\\.',
    "'node:(child_process|tls|v8|vm|worker_threads|perf_hooks)'",
    '/(awake|browser|certificates|chromium|command|gallery|load-client|newcomer|postgres-\\w+|production|proxy|server-process|shell)\\.ts',
  ].join('|'),
  'm',
);
/** Whose files share processes: each group of them was seen to pass five times. Another folder may join when its groups do. */
const SHARING = ['api', 'journal', 'lib', 'specification'].map((folder) => `test/${folder}/`);
/** How many files a process runs, at most: one after another, so that more would leave a processor idle at the end. */
const TOGETHER = 8;

/** Writes files into the temporary folder that each import several of `files`. Returns these and what needs a process of its own. */
export function groupTests(files: readonly string[]): { groups: string[]; others: string[] } {
  const isShort = (file: string) =>
    SHARING.some((folder) => file.startsWith(folder)) && !NEEDS_OWN_PROCESS.test(readFileSync(file, 'utf8'));
  const short = files.filter(isShort);
  const others = files.filter((file) => !short.includes(file));
  const count = Math.ceil(short.length / TOGETHER);
  const groups = Array.from({ length: count }, (_, group) => {
    // Neighbours in a folder take about as long as one another, and come into different processes.
    const members = short.filter((_, index) => index % count === group);
    const path = join(tmpdir(), `together-${group + 1}.test.mjs`);
    writeFileSync(path, members.map((file) => `import '${pathToFileURL(file)}';\n`).join(''));
    return path;
  });
  return { groups, others };
}
