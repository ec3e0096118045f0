// A system clock that a test sets while a process runs under it, by libfaketime; what only goes forward goes on as it does.
import { existsSync, globSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PLACES = ['/usr/lib/*/faketime', '/usr/lib{,64}/faketime', '/usr/local/lib{,64}/faketime'];

const library =
  process.platform === 'linux'
    ? globSync(PLACES.map((place) => `${place}/libfaketime.so.1`)).find((file) => existsSync(file))
    : undefined;

/** Why no clock can be set here; false where one can. */
export const noFaketime = library === undefined && 'no libfaketime (Debian: apt install faketime)';

export class SettableClock {
  readonly #file: string;
  /** How far it is ahead of the machine's, in milliseconds. */
  ahead = 0;

  /** Keeps its setting in a file in `folder`. */
  constructor(folder: string) {
    this.#file = join(folder, 'system-clock');
    this.set(0);
  }

  /** What a process that shall have this clock has in its environment. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: library!,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    };
  }

  /** Sets it to be `aheadMs` ahead of the machine's, or behind where that is negative: at once. */
  set(aheadMs: number): void {
    // Never a file half written: each reading of the time reads it.
    writeFileSync(`${this.#file}.new`, `${aheadMs < 0 ? '-' : '+'}${Math.abs(aheadMs) / 1000}`, {
      mode: 0o600,
    });
    renameSync(`${this.#file}.new`, this.#file);
    this.ahead = aheadMs;
  }
}
