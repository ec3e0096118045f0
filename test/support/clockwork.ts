// The product's own deadlines in the hands of a test: time that passes when it says so, and connections that are never cut for their age.
import type { TestContext } from 'node:test';
import type { Harness } from './harness.ts';

/** Lets time pass, until the test ends, for what measures it in this process. */
export function clockwork({ mock }: TestContext): (ms: number) => void {
  const { now } = performance;
  let passed = 0;
  mock.method(performance, 'now', () => now.call(performance) + passed);
  return (ms) => {
    passed += ms;
  };
}

/** Has a service cut no connection for its age, at its stop neither: what holds that up holds it up for as long as the test has. */
export function cutNothing({ service }: Harness): void {
  const noLimits = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 };
  Object.assign(service.app.server, { ...noLimits, closeAllConnections() {} });
}
