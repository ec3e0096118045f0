// The stand-alone verifier, run in this process with nothing of ours, as fast as a campaign wants it.

import { exportHistory, markCheckpoints } from '../../src/journal/export.ts';
import type { Reader } from '../../src/store/database.ts';

const VERIFIER = new URL('../../scripts/verify-export.js', import.meta.url).href;
let runs = 0;

export interface Verdict {
  verified: boolean;
  said: string;
}

/** Runs `node verify-export.js …args`. One at a time: it speaks to this process's output. */
export async function verifyExport(...args: string[]): Promise<Verdict> {
  const { argv, exitCode } = process;
  const { log } = console;
  const said: string[] = [];
  process.argv = [argv[0]!, 'verify-export.js', ...args];
  process.exitCode = undefined;
  console.log = (line: string) => void said.push(line);
  try {
    runs++;
    await import(`${VERIFIER}?run=${runs}`);
    return { verified: (process.exitCode ?? 0) === 0, said: said.join('\n') };
  } finally {
    process.argv = argv;
    process.exitCode = exitCode;
    console.log = log;
  }
}

/** The history in `view` with the checkpoints in `storage`, as `counterfoil audit export` writes it. */
export async function exportText(view: Reader, storage: string, since = 1): Promise<string> {
  let text = '';
  const lines = exportHistory(view, markCheckpoints(storage), { since, now: 0, onProgress() {} });
  for await (const some of lines) text += some;
  return text;
}
