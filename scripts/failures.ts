// A reporter of node:test that writes each failed test as a line of JSON: its file, its name and its error as text.
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

export interface TestFailure {
  /** The path from the current folder. */
  file: string;
  name: string;
  error: string;
}

export default async function* failures(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || !data.file) continue;
    const { error } = data.details;
    const failure: TestFailure = {
      file: relative(process.cwd(), data.file),
      name: data.name,
      error: inspect(error.cause ?? error),
    };
    yield `${JSON.stringify(failure)}\n`;
  }
}
