// What commands print: emphasis, a progress bar and questions on a terminal, lines into a pipe or a file.
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Logger } from '../../lib/log.ts';
import { momentsIn } from '../../lib/moments.ts';
import { monotonicMs, systemClock } from '../../lib/time.ts';
import { environment } from '../environment.ts';

/** A command's own failure, reported in one line; exit code 1. */
export class Failure extends Error {
  override readonly name: string = 'Failure';
}

/**
 * What a command comes to: a JSON document, or text. `aside`, on standard error, says what to do next, and what to do with a secret in
 * `text`. `hasFailed`: it exits with 1.
 */
export interface Printed {
  json: object;
  text: string;
  aside?: string;
  hasFailed?: boolean;
}

/** Prints a result as its user asked for it. */
export function print(
  options: { json?: boolean | undefined },
  { json, text, aside, hasFailed }: Printed,
): void {
  if (options.json) console.log(JSON.stringify(json));
  else if (text !== '') console.log(text);
  if (aside && !options.json) console.error(text === '' ? aside : `\n${aside}`);
  if (hasFailed) process.exitCode = 1;
}

type Stream = NodeJS.WriteStream;

/** Whether escape sequences may be written (https://no-color.org: any non-empty NO_COLOR forbids them). */
export function mayColor(stream: Stream): boolean {
  return stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

const STYLES = {
  bold: ['\x1b[1m', '\x1b[22m'],
  dim: ['\x1b[2m', '\x1b[22m'],
  green: ['\x1b[32m', '\x1b[39m'],
  yellow: ['\x1b[33m', '\x1b[39m'],
  red: ['\x1b[31m', '\x1b[39m'],
} as const;

/** `text` in a style where `stream` is a terminal that wants it, else plain. */
export function styled(stream: Stream, style: keyof typeof STYLES, text: string): string {
  const [on, off] = STYLES[style];
  return mayColor(stream) ? on + text + off : text;
}

/** A path as a person reads it: from here where it lies below, else whole. */
export function shownPath(path: string): string {
  const here = `${process.cwd()}/`;
  return path.startsWith(here) ? `./${path.slice(here.length)}` : path;
}

/** Rows as columns, each as wide as its widest cell, two spaces between. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Whether this process has a terminal that could interrupt it; a closed window leaves it without. */
export function controllingTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** A log for eyes, which can also tell what is no line of the log. */
export interface TerminalLog extends Logger {
  /** Tells something under a sign that says what kind it is. */
  tell(sign: string, text: string): void;
  /** Goes on in lines of JSON, or in words again. */
  toggleJson(): void;
  /** Tells what happened while the service was not yet said to be ready, and from now on at once. */
  greeted(): void;
}

type Fields = Record<string, unknown>;

/** Lines of the log that are told in other words: the sign, the text, and the status that colours it. */
const TOLD: Record<string, (fields: Fields) => readonly [sign: string, text: string, status?: unknown]> = {
  request: ({ method, route, status, ms }) => [
    '←',
    `${String(method).padEnd(4)} ${route ?? 'no such path'}  ${ms} ms`,
    status,
  ],
  'a webhook was delivered': ({ type, status, ms }) => ['→', `webhook ${type}  ${ms} ms`, status],
  'a webhook was not delivered': ({ type, status, reason }) => [
    '→',
    `webhook ${type} was not delivered: ${reason}`,
    status ?? 500,
  ],
  'a letter lies at /dev/mail': ({ at }) => ['✉', `a letter lies at ${at}`],
};

/** Requests that people's browsers send and that are no news where they succeed. */
const isQuiet = ({ route, status }: Fields) =>
  String(route).endsWith('/health') || (Number(status) < 400 && !/\/(v1|admin)\//.test(String(route)));

/**
 * A log for eyes: a short line for each event, and what went wrong in words. `lines` takes them as lines of JSON where they are asked for.
 * `tellsPages`: whether also the requests for pages that succeed are told.
 */
export function terminalLog(
  out: Stream,
  timeZone: string,
  lines: Logger,
  { tellsPages }: { tellsPages: boolean },
): TerminalLog {
  let isJson = false;
  let early: string[] | undefined = [];
  const time = () => styled(out, 'dim', momentsIn(timeZone).second(systemClock.now()));
  const write = (text: string) => void out.write(`  ${time()}  ${text}\n`);
  const inWords = (style: 'yellow' | 'red' | undefined, given: unknown, message?: string) => {
    const fields = (typeof given === 'object' ? given : {}) as Fields;
    const told = TOLD[message ?? ''];
    if (told) {
      if (message === 'request' && !tellsPages && isQuiet(fields)) return;
      const [sign, text, status] = told(fields);
      const color = Number(status) < 400 ? 'green' : Number(status) < 500 ? 'yellow' : 'red';
      const line = `${sign} ${status === undefined ? '' : `${styled(out, color, String(status))}  `}${text}`;
      return early ? void early.push(line) : write(line);
    }
    const { err, request_id } = fields;
    const text = message ?? String(given);
    const cause = err instanceof Error ? `: ${err.stack ?? err.message}` : '';
    const place = request_id ? ` (${request_id})` : '';
    write((style ? styled(out, style, text) : text) + place + cause);
  };
  const level = (name: keyof Logger, style?: 'yellow' | 'red') => (given: unknown, message?: string) => {
    if (isJson) (lines[name] as (given: unknown, message?: string) => void)(given, message);
    else if (name !== 'debug' || TOLD[message ?? '']) inWords(style, given, message);
  };
  return {
    debug: level('debug'),
    info: level('info'),
    warn: level('warn', 'yellow'),
    error: level('error', 'red'),
    tell: (sign, text) => {
      if (!isJson) write(`${sign} ${text}`);
    },
    greeted() {
      early?.forEach(write);
      early = undefined;
    },
    toggleJson() {
      isJson = !isJson;
      write(isJson ? 'the log goes on in lines of JSON; j: in words' : 'the log goes on in words');
    },
  };
}

const BAR_WIDTH = 24;
const REDRAW_EVERY_MS = 100;
const SILENT_FOR_MS = 500;

/** Tells how much of how much is done, and of what where that is another thing by now. */
export type Progress = (done: number, total: number, stage?: string) => void;

/** Whether a bar stands on the terminal's last line. */
let drawn = false;

/** Lends `use` a progress bar on standard error, drawn only on a terminal and only for what takes more than half a second. */
export async function withProgressBar<T>(label: string, use: (told: Progress) => Promise<T>): Promise<T> {
  let current = label;
  let begun = monotonicMs();
  let drawnAt = begun + SILENT_FOR_MS - REDRAW_EVERY_MS;
  const told: Progress = (done, total, stage = label) => {
    const now = monotonicMs();
    if (stage !== current) [current, begun, drawnAt] = [stage, now, now + SILENT_FOR_MS - REDRAW_EVERY_MS];
    if (!process.stderr.isTTY || environment.TERM === 'dumb') return;
    if (total === 0 || now - drawnAt < REDRAW_EVERY_MS) return;
    drawnAt = now;
    drawn = true;
    const part = Math.min(done / total, 1);
    const full = Math.round(part * BAR_WIDTH);
    const left = part > 0 ? Math.ceil((((now - begun) / part) * (1 - part)) / 1000) : 0;
    const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
    process.stderr.write(`\r${stage} ▕${bar}▏ ${Math.floor(part * 100)} % · ${left} s left \x1b[K`);
  };
  try {
    return await use(told);
  } finally {
    clearBar();
  }
}

function clearBar(): void {
  if (drawn) process.stderr.write('\r\x1b[K');
  drawn = false;
}

/** Prints text on standard output while a progress bar may stand on the terminal's last line. */
export function printBesideBar(text: string): void {
  clearBar();
  console.log(text);
}

/** What ends a command midway: Ctrl-C, and signals. */
const INTERRUPTIONS = ['SIGINT', 'SIGTERM'] as const;
/** What a shell's exit code begins with where a signal ended a process. */
const SIGNALLED = 128;

/**
 * Has `line` said on standard error where a signal ends the process while `use` is at work, which ends as it would have without;
 * `onEnd` is called before. `use` gives turns: what it does in one piece is ended after it.
 */
export async function tellInterrupted<T>(line: string, use: () => Promise<T>): Promise<T> {
  const stop = () => INTERRUPTIONS.forEach((signal) => void process.off(signal, end));
  const end = (signal: NodeJS.Signals) => {
    stop(); // without a listener it ends the process
    console.error(`${drawn ? '\n' : ''}counterfoil: interrupted: ${line}`);
    process.kill(process.pid, signal);
    // Still running: as process 1, which gets no signal without a handler.
    process.exit(SIGNALLED + constants.signals[signal]);
  };
  for (const signal of INTERRUPTIONS) process.on(signal, end);
  try {
    return await use();
  } finally {
    stop();
  }
}

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

/** For `await using`: calls `end` when the block is left, in whatever way. */
export const atEnd = (end: () => unknown): AsyncDisposable => ({
  async [Symbol.asyncDispose]() {
    await end();
  },
});

/** Asks at a terminal whether to go on. Throws `Failure` without a terminal, with `orElse`, and with `none` if the answer is no. */
export async function confirm(what: string, asks: { question: string; orElse: string; none: string }) {
  if (!canAsk()) throw new Failure(`${what}: ${asks.orElse}`);
  if (!(await saysYes(`${what}. ${asks.question}`))) throw new Failure(asks.none);
}

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

/** Writes to a file, or to standard output where none is named. Returns what the lines do; undefined where their reader has gone. */
export const writeLines = <R>(lines: Lines<R>, file: string | undefined): Promise<R | undefined> =>
  file === undefined ? writeOut(lines) : writeFile(resolve(file), lines);

/** To standard output, as fast as it is read. Nothing back where its reader has gone. */
async function writeOut<R>(lines: Lines<R>): Promise<R | undefined> {
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
async function writeFile<R>(file: string, lines: Lines<R>): Promise<R> {
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
