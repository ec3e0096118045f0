// Writes lines as they are made, in constant memory: to standard output, or to a file that is whole or not there.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure, shownPath } from './terminal.ts';

type Lines<R> = AsyncGenerator<string, R>;

const BUFFER = 64 * 1024;

/** Hands `lines` on in pieces of some size; returns what they return. */
async function pour<R>(lines: Lines<R>, write: (text: string) => Promise<void>): Promise<R> {
  let held = '';
  for (;;) {
    const { value, done } = await lines.next();
    if (done) {
      if (held !== '') await write(held);
      return value;
    }
    held += value;
    if (held.length < BUFFER) continue;
    await write(held);
    held = '';
  }
}

/** To standard output, as fast as it is read. Nothing back where its reader has gone. */
export async function writeOut<R>(lines: Lines<R>): Promise<R | undefined> {
  try {
    return await pour(lines, async (text) => {
      if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    });
  } catch (error) {
    if (['EPIPE', 'EIO'].includes((error as NodeJS.ErrnoException).code!)) return undefined;
    throw error;
  }
}

/** Writes a new file, for its owner alone, and renames it to `file`: a failure leaves the old one. Throws `Failure` without the folder. */
export async function writeFile<R>(file: string, lines: Lines<R>): Promise<R> {
  const folder = dirname(file);
  if (!existsSync(folder)) throw new Failure(`${shownPath(folder)} does not exist: make it, or mount it`);
  const beside = `${file}.new`;
  await rm(beside, { force: true });
  const handle = await open(beside, 'wx', 0o600);
  try {
    const result = await pour(lines, async (text) => {
      await handle.writeFile(text);
    });
    await handle.sync();
    await handle.close();
    await rename(beside, file);
    return result;
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(beside, { force: true });
    throw error;
  }
}
