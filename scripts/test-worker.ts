// A process that runs test files one after another and tells the run what became of them; it is node:test's reporter of that process, too.
// `fork` it, send it the name of a file, wait for `FileDone`, send it the next, and an empty name at the end.
import { relative, resolve } from 'node:path';
import { describe } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { waitedFor } from '../test/support/waiting.ts';
import { spentMs } from './processor-time.ts';

/** A test, or a hook of a suite, that ended. */
export interface TestDone {
  kind: 'test';
  /** Where it stands: the path from the current folder. */
  file: string;
  /** Its own name behind those of the suites around it. */
  name: string;
  /** Why it did not run. */
  skipped: string | undefined;
  /** What it failed with; undefined where it passed. */
  error: string | undefined;
}

/** A file whose tests have all ended. */
export interface FileDone {
  kind: 'file';
  file: string;
  /** Milliseconds of a processor that this process had meanwhile, and those that it started and that have ended. */
  ownMs: number;
  startedMs: number;
}

/** An error after the end of its test, which node:test tells when the process ends. */
export interface LateError {
  kind: 'late';
  text: string;
}

export type Told = TestDone | FileDone | LateError;

/** How long what a test left open may keep this process alive at the end, in milliseconds. */
const LEFT_OPEN_MS = 5000;

const tell = (told: Told) => void process.send!(told);

let before = spentMs();
process.on('message', (file: string) => {
  before = spentMs();
  if (file !== '') {
    describe(file, () => import(resolve(file)));
    return;
  }
  process.channel!.unref(); // node:test ends with what keeps the process alive, and tells what came late
  setTimeout(() => process.exit(), LEFT_OPEN_MS).unref();
});
process.on('disconnect', () => process.exit());

/** What node:test adds to the error of a test. */
interface Failure extends NodeJS.ErrnoException {
  failureType?: string;
}

/** Tells what ends. It prints nothing: the run does. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') names.splice(data.nesting, names.length, data.name);
    if (type === 'test:diagnostic' && data.message.startsWith('Error: '))
      tell({ kind: 'late', text: data.message });
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { nesting, name, skip, details, file = '' } = data;
    const error = type === 'test:fail' ? data.details.error : undefined;
    if (details.type !== 'suite' || (error && (error as Failure).failureType !== 'subtestsFailed'))
      tell({
        kind: 'test',
        file: nesting === 0 ? name : relative('', file),
        name: [...names.slice(1, nesting), name].join(' > '),
        skipped: skip === undefined || skip === false ? undefined : String(skip),
        error: error && [inspect(causeOf(error)), ...(isOutOfTime(error) ? waitedFor() : [])].join('\n'),
      });
    if (nesting > 0) continue;
    const { own, started } = spentMs();
    tell({ kind: 'file', file: name, ownMs: own - before.own, startedMs: started - before.started });
  }
  yield '';
}

const isOutOfTime = (error: Error) => (error as Failure).failureType === 'testTimeoutFailure';

/** The error of a test's own: node:test wraps it, and that of a hook twice. */
function causeOf(error: Error): unknown {
  const { cause } = error;
  const isWrapped = (error as Failure).code === 'ERR_TEST_FAILURE' && cause !== undefined;
  return isWrapped ? (cause instanceof Error ? causeOf(cause) : cause) : error;
}
