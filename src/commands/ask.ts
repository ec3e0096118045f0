// Asks whoever sits at the terminal; a program that called the command is never asked.
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

/** Whether somebody is there who can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Whether somebody at the terminal says yes to `question`; anything else is no, Ctrl-C too. */
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
