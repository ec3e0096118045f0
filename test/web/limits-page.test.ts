// docs/limits.md: its numbers are those of the program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { STREAMS_MAXIMUM } from '../../src/payments/events/streams.ts';
import { LIMITS } from '../../src/web/server.ts';

const rows = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()));

/** What the page says the limit of something is. */
const limitOf = (what: RegExp) => rows.find(([, name]) => what.test(name!))?.[2] ?? 'nothing';

test('the page of limits gives the limits of requests as they are held to.', () => {
  const seconds = (ms: number) => `${ms / 1000} seconds`;
  assert.ok(limitOf(/^Request body/).startsWith(`${LIMITS.bodyBytes / 1024} KiB;`));
  assert.equal(limitOf(/^Request target/), '8192 bytes');
  assert.ok(
    limitOf(/^Request headers/).startsWith(`${LIMITS.headers}, of ${LIMITS.headerBytes / 1024} KiB `),
  );
  const times = `${seconds(LIMITS.headersTimeoutMs)}; ${seconds(LIMITS.requestTimeoutMs)}`;
  assert.equal(limitOf(/^Time to send/), times);
  assert.equal(limitOf(/^From a request to/), seconds(LIMITS.answerMs));
  assert.equal(limitOf(/^Connection without/), seconds(LIMITS.keepAliveTimeoutMs));
  assert.equal(limitOf(/^Requests on one/), String(LIMITS.requestsPerSocket));
  assert.ok(limitOf(/^Event streams/).startsWith(`${STREAMS_MAXIMUM};`));
  assert.ok(limitOf(/^Entries of one/).startsWith('100;'));
});
