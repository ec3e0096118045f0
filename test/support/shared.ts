// What the tests of a suite share: started before them and closed after them.
import { after, before } from 'node:test';

/**
 * Stands for what `start` gives in the tests of the suite, or the file, that calls this. `check` runs before it is closed. What is
 * called for later is closed later.
 */
export function shared<T extends { close(): Promise<unknown> }>(
  start: () => Promise<T>,
  check?: (started: T) => Promise<unknown>,
): T {
  let started: T | undefined;
  before(async () => {
    started = await start();
  });
  after(async () => {
    try {
      if (started) await check?.(started);
    } finally {
      await started?.close();
    }
  });
  return new Proxy({} as T, {
    get(_, name) {
      const value = Reflect.get(started!, name);
      return typeof value === 'function' ? value.bind(started) : value;
    },
    set: (_, name, value) => Reflect.set(started!, name, value),
  });
}
