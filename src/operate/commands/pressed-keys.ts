// Single keys that a person presses while the service runs in the foreground of their terminal.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { SECOND_MS } from '../../lib/time.ts';
import { styled, type TerminalLog } from './terminal.ts';

export interface PressedKey {
  letter: string;
  /** What it does, in a word or two. */
  does: string;
  press(): void | Promise<void>;
}

/** Between two looks whether a service in the background is in the foreground by now. */
const LOOK_EACH_MS = SECOND_MS;
const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

/**
 * Names the keys and listens for them. Ctrl-C calls `stop` and Ctrl-Z suspends, as they do without. A terminal in whose background the
 * service runs is left alone until it is in the foreground: reading it there would stop the process.
 */
export function listenForKeys(keys: readonly PressedKey[], stop: () => void, log: TerminalLog): void {
  const { stdin, stdout } = process;
  if (!stdin.isTTY) return;
  const names = keys.map(({ letter, does }) => `${letter} ${does}`).join(' · ');
  console.log(styled(stdout, 'dim', `  keys: ${names}\n`));
  let isListening = false;
  const begin = () => {
    if (isListening || !isInForeground()) return;
    isListening = true;
    stdin.setRawMode(true);
    stdin.resume();
  };
  const suspend = () => {
    isListening = false;
    stdin.setRawMode(false);
    stdin.pause();
    process.kill(0, 'SIGTSTP');
  };
  stdin.pause(); // a listener alone begins to read
  stdin.on('error', () => {}); // its window was closed
  stdin.on('data', async (typed) => {
    for (const letter of typed.toString()) {
      if (letter === CTRL_C) stop();
      else if (letter === CTRL_Z) suspend();
      else {
        const key = keys.find((one) => one.letter === letter.toLowerCase());
        try {
          await key?.press();
        } catch (error) {
          log.error({ err: error }, `${key!.does} failed`);
        }
      }
    }
  });
  // A job that runs in the background gets no signal when a shell brings it to the foreground.
  setInterval(begin, LOOK_EACH_MS).unref();
  begin();
}

/** Whether the terminal's foreground process group is that of this process. False where that cannot be found out. */
function isInForeground(): boolean {
  try {
    const [group, foreground] =
      process.platform === 'linux'
        ? readFileSync('/proc/self/stat', 'utf8')
            .replace(/^.*\) /, '')
            .split(' ')
            .filter((_, i) => i === 2 || i === 5)
        : execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', `${process.pid}`], { encoding: 'utf8' })
            .trim()
            .split(/\s+/);
    return group === foreground;
  } catch {
    return false;
  }
}
