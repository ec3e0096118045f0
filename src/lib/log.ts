// Logs as JSON lines of fields that were chosen; what was not chosen cannot get in.
import { write, writeSync } from 'node:fs';
import { type DestinationStream, type Logger as Pino, pino } from 'pino';
import { formatTimestampMs, monotonicMs, SECOND_MS, systemClock } from './time.ts';

/** Lines are written together when they come to this many characters, or a second old. */
const GATHERED = 16_000;
/** Lines that wait for a reader beyond this many characters are dropped. */
const MOST_WAITING = 8_000_000;
/** A reader that has no room is asked again after this long. */
const ASK_AGAIN_MS = 50;
/** The last flush takes no longer than this where a reader has no room. */
const LAST_FLUSH_MS = SECOND_MS;

export type Logger = Pick<Pino, 'debug' | 'info' | 'warn' | 'error'>;

/** What is said of an error: never its properties, which may hold a statement's values. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code, failure } = error as { code?: unknown; failure?: unknown };
  // Where the program itself found the failure, it says so in words of its own, and no error lies below.
  const isOurs = typeof failure === 'string' && typeof error.cause === 'string';
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof failure === 'string' ? { failure } : {}),
    ...(failure === undefined ? { stack: error.stack?.replace(error.message, '…') } : {}),
    ...(isOurs ? { reason: error.cause } : error.cause ? { cause: errorFields(error.cause) } : {}),
  };
}

/**
 * Writes gathered lines to standard output. What cannot be written (a full disk, a reader that has gone) is dropped, and
 * that is said once on standard error: a log that fails must neither end nor hold up the service.
 */
class StandardOutput implements DestinationStream {
  #waiting = '';
  #writing = false;
  #timer: NodeJS.Timeout | undefined;
  #told = false;

  write(line: string): void {
    if (this.#waiting.length > MOST_WAITING) {
      this.#tell('nobody reads them');
      return;
    }
    this.#waiting += line;
    if (this.#waiting.length >= GATHERED) this.#writeOn();
    else this.#timer ??= setTimeout(() => this.#writeOn(), SECOND_MS).unref();
  }

  #writeOn(): void {
    if (this.#writing || this.#waiting === '') return;
    const bytes = Buffer.from(this.#take());
    this.#writing = true;
    this.#writeBytes(bytes);
  }

  #take(): string {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#waiting;
    this.#waiting = '';
    return text;
  }

  #writeBytes(bytes: Buffer): void {
    write(1, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#writeBytes(bytes), ASK_AGAIN_MS);
      } else if (!error && written < bytes.length) {
        this.#writeBytes(bytes.subarray(written));
      } else {
        if (error) this.#tell(error.message, error.code);
        this.#writing = false;
        if (this.#waiting.length >= GATHERED) this.#writeOn();
        else if (this.#waiting !== '') this.#timer ??= setTimeout(() => this.#writeOn(), SECOND_MS).unref();
      }
    });
  }

  /** Writes what waits at once, before the process ends; gives up where that fails. */
  flushSync(): void {
    const deadline = monotonicMs() + LAST_FLUSH_MS;
    let bytes = Buffer.from(this.#take());
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(1, bytes));
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code !== 'EAGAIN' || monotonicMs() > deadline) {
          this.#tell(message, code);
          return;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ASK_AGAIN_MS);
      }
    }
  }

  #tell(problem: string, code?: string): void {
    if (this.#told || code === 'EPIPE') return; // the reader has closed the pipe: that is no failure
    this.#told = true;
    try {
      writeSync(2, `counterfoil: log lines are dropped: ${problem}\n`);
    } catch {
      // Standard error lies on the same disk, perhaps.
    }
  }
}

function standardOutput(): StandardOutput {
  const out = new StandardOutput();
  process.on('exit', () => out.flushSync());
  return out;
}

/** A logger on `stream`, standard output by default, with its lines gathered for up to a second. */
export function createLogger(level: string, stream?: DestinationStream): Logger & { flush(): void } {
  const out = stream ?? standardOutput();
  const log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${formatTimestampMs(systemClock.now())}"`,
      serializers: { err: errorFields },
    },
    out,
  );
  return Object.assign(log, {
    flush: () => {
      if ('flushSync' in out) (out as { flushSync(): void }).flushSync();
    },
  });
}

/** What is logged of an outage. `fails` is a warning unless `level` says another. */
interface OutageLines {
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  level?: 'warn' | 'error';
  fails: string;
  works: string;
}

/** A time in which something that is tried again and again fails: its beginning and its end are worth a line, what is between is not. */
export class Outage {
  readonly #lines: OutageLines;
  #lasts = false;

  constructor(lines: OutageLines) {
    this.#lines = lines;
  }

  get lasts(): boolean {
    return this.#lasts;
  }

  /** Runs `work`, whose failure begins an outage and whose success ends it. Never rejects. */
  async tried(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.ends();
    } catch (error) {
      this.begins(error);
    }
  }

  begins(error: unknown): void {
    const { log, level = 'warn', fails } = this.#lines;
    if (!this.#lasts) log[level]({ err: error }, fails);
    this.#lasts = true;
  }

  ends(): void {
    if (this.#lasts) this.#lines.log.info(this.#lines.works);
    this.#lasts = false;
  }
}

/** For where nothing shall be said. */
export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
