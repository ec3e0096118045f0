// The program in a folder of its own, to be made worse on purpose: a campaign that cannot fail proves nothing.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './command.ts';

export interface ProgramCopy {
  /** What to run in place of `bin/counterfoil.js`, with `env` in its environment. */
  command: string;
  env: Record<string, string>;
  /** Writes a source file anew with other text in one place, which must be there once; the rest is as in ours. */
  change(source: string, from: string, to: string): void;
  remove(): void;
}

/** Copies the program; its dependencies are ours. */
export function copyProgram(): ProgramCopy {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-program-'));
  for (const part of ['bin', 'src', 'packages', 'package.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return {
    command: join(folder, 'bin/counterfoil.js'),
    env: { NODE_COMPILE_CACHE: join(folder, 'cache') }, // not ours: nobody will start this copy again
    change(source, from, to) {
      const parts = readFileSync(join(ROOT, source), 'utf8').split(from);
      if (parts.length !== 2)
        throw new Error(`${source} has ${JSON.stringify(from)} ${parts.length - 1} times`);
      writeFileSync(join(folder, source), parts.join(to));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
