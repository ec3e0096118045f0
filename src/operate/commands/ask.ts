// Asks the user at the terminal. A program that runs the command is never asked.
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

/** Whether the command runs at a terminal, so that its user can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Whether the user at the terminal answers yes to `question`. Anything else is no, Ctrl-C too. */
export async function saysYes(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C fails the question, Ctrl-D only closes the terminal.
  const closed = once(terminal, 'close').then(() => '');
  try {
    const asked = terminal.question(`${question} [y/N] `).catch(() => '');
    const answer = await Promise.race([asked, closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
