// A passphrase: asked for on the terminal without an echo, or read from a file or standard input; never an argument.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { isGuessable } from '../../administrators/guessable.ts';
import { canAsk } from './ask.ts';
import { Failure } from './terminal.ts';

const MINIMUM = 15;
const STANDARD_INPUT = '-';

/**
 * A passphrase for something new: from `file` (`-` is standard input), or asked for twice. Throws `Failure` if it is short, easily
 * guessed or not typed twice the same, or there is no terminal to ask on.
 */
export async function newPassphrase(file: string | undefined): Promise<string> {
  const passphrase = file === undefined ? await ask('New passphrase: ') : readPassphrase(file);
  if ([...passphrase].length < MINIMUM)
    throw new Failure(`the passphrase must have at least ${MINIMUM} characters`);
  if (await isGuessable(passphrase, ['counterfoil', hostname()]))
    throw new Failure(
      'the passphrase is easily guessed: put together words that only you would, or let a program make one',
    );
  if (file === undefined && (await ask('The same again: ')) !== passphrase)
    throw new Failure('the two passphrases differ; nothing was written');
  return passphrase;
}

/** The passphrase of something that is there: from `file`, or asked for once. Throws `Failure` if there is no terminal. */
export async function givenPassphrase(file: string | undefined): Promise<string> {
  return file === undefined ? ask('Passphrase: ') : readPassphrase(file);
}

/** The first line of a file. Throws `Failure` if it is empty, the system's errors. */
function readPassphrase(file: string): string {
  const [line] = readFileSync(file === STANDARD_INPUT ? 0 : file, 'utf8').split(/\r?\n/, 1);
  if (!line) throw new Failure(`${file === STANDARD_INPUT ? 'standard input' : file} holds no passphrase`);
  return line;
}

async function ask(question: string): Promise<string> {
  if (!canAsk())
    throw new Failure(
      'there is no terminal to ask for the passphrase on: name a file that holds it with --passphrase-file, or - for standard input',
    );
  // A terminal of readline's echoes what is typed to its output, which is thrown away here.
  const output = new Writable({ write: (_bytes, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  process.stderr.write(question);
  try {
    const closed = new Promise<undefined>((resolve) => {
      terminal.once('close', () => resolve(undefined));
      terminal.once('SIGINT', () => resolve(undefined));
    });
    const answer = await Promise.race([terminal.question('').catch(() => undefined), closed]);
    if (answer === undefined) throw new Failure('no passphrase was given; nothing was written');
    return answer;
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
