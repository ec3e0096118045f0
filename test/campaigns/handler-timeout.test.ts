// No request waits for longer than its answer may take, none that began is cut, and a stop finishes those that wait.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { createLogger } from '../../src/lib/log.ts';
import { httpServer, LIMITS } from '../../src/web/server.ts';
import { createShell } from '../../src/web/shell.ts';
import { addPerson } from '../support/admin.ts';
import { awakeMs } from '../support/awake.ts';
import { signIn } from '../support/console.ts';
import { freePort, untilRefused } from '../support/free-ports.ts';
import { ask, startHarness, writeConfiguration } from '../support/harness.ts';
import { startServerProcess } from '../support/server-process.ts';
import { PLAIN_SHELL } from '../support/shell.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';

/** The limit is looked at four times a second; the rest is for a machine that is busy. */
const AT_MOST_MS = LIMITS.answerMs + 1400;
/** Shorter than a read or a work may take, by more than a machine stands still, so that it ends well. */
const HELD_MS = 5500;
/** When a handler ends that took too long. */
const TOO_LONG_MS = LIMITS.answerMs + 700;
/** More than the system takes for a client that does not read. */
const UNREAD_BYTES = 64 * 1024 * 1024;
const CUT_WITHIN_MS = 15_000;

async function timed<T>(answer: Promise<T>): Promise<T & { ms: number }> {
  const begun = awakeMs();
  return { ...(await answer), ms: awakeMs() - begun };
}

/** Holds what `sql` locks until `release` is called, or the test is over. */
async function lock(context: TestContext, url: string, sql: string) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`begin; ${sql}`);
  let ended: Promise<void> | undefined;
  const release = () => (ended ??= client.end()); // which rolls back
  context.after(release);
  /** Answers when somebody waits for it. */
  const isWaitedFor = async () => {
    const waiting = 'select from pg_locks where pg_backend_pid() = any(pg_blocking_pids(pid))';
    await eventually(async () => (await client.query(waiting)).rowCount! > 0);
  };
  return { release, isWaitedFor };
}

/** A site of no routes yet; each line of its log goes to `write`. */
function shell(write: (line: string) => void): FastifyInstance {
  return createShell({
    ...PLAIN_SHELL,
    log: createLogger('info', { write }),
    server: (handler) => createServer(handler),
  });
}

describe('a request that waits', { concurrency: true }, () => {
  test('for one thing after the other is answered 503 in time, at the API and the console', async (context) => {
    await using harness = await startHarness('postgres', { pace: { answerMs: 8000 } });
    await addPerson(harness, 'auditor');
    const session = await signIn(harness, 'auditor', 'Olga Auditor');
    const url = harness.store.database_url!;
    const { release } = await lock(
      context,
      url,
      'lock table idempotency_keys, sessions in access exclusive mode',
    );
    const head = await lock(context, url, 'select * from journal_head for update');
    const payment = { method: 'POST', headers: { 'idempotency-key': 'late' }, body: { amount: 1 } };
    const creating = timed(harness.request('/v1/payments', payment));
    await pause(HELD_MS);
    const looking = timed(session.get('/'));
    await release();
    const created = await creating;
    assert.deepEqual([created.status, created.json.error.code], [503, 'unavailable']);
    assert.equal(created.headers.get('retry-after'), '1');
    assert.ok(created.ms < AT_MOST_MS, `${created.ms} ms`);
    assert.ok((await looking).ms < AT_MOST_MS);
    await head.release();
    // The same key tells in the end what became of it, and that it was done once.
    assert.equal((await harness.request('/v1/payments', payment)).status, 201);
    assert.equal((await harness.request('/v1/payments')).json.data.length, 1);
  });

  test('when the stop comes is finished, and what was answered stands', async (context) => {
    const store = await temporaryStore('postgres');
    const port = await freePort();
    const { storage, database_url } = store;
    const server = await startServerProcess({
      config: writeConfiguration(store),
      port,
      storage,
      database_url,
    });
    const { release, isWaitedFor } = await lock(
      context,
      database_url!,
      'select * from journal_head for update',
    );
    const waiting = ask(server.origin, '/v1/payments', { method: 'POST', body: { amount: 1 } });
    await isWaitedFor();
    const begun = awakeMs();
    const ended = server.end('SIGTERM');
    await untilRefused(port); // the stop has begun
    await release();
    assert.equal((await waiting).status, 201);
    assert.equal(await ended, 0);
    assert.ok(awakeMs() - begun < 10_000);
    await store.drop();
  });

  test('for its handler is answered once, one that sends its body slowly and a download are not', async (context) => {
    const logged: string[] = [];
    const app = shell((line) => logged.push(line));
    context.after(() => app.close());
    app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body));
    let handled = 0;
    app.get('/slow', async () => {
      await pause(TOO_LONG_MS);
      handled += 1;
      return 'too late';
    });
    app.get('/failing', async () => {
      await pause(TOO_LONG_MS);
      handled += 1;
      throw new Error('too late');
    });
    const slowly = () =>
      Readable.from(
        (async function* () {
          yield 'begun, ';
          await pause(TOO_LONG_MS);
          yield 'ended';
        })(),
      );
    app.get('/download', (_request, reply) => reply.type('text/plain').send(slowly()));
    app.post('/body', async ({ body }) => `${body}`);
    await app.listen({ host: '127.0.0.1', port: 0 });
    const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    const body = Readable.toWeb(slowly());
    const options = { method: 'POST', headers: { 'content-type': 'text/plain' }, body, duplex: 'half' };
    const sent = [
      fetch(`${origin}/slow`),
      fetch(`${origin}/failing`),
      fetch(`${origin}/download`),
      fetch(`${origin}/body`, options as unknown as RequestInit),
    ];
    const [slow, failing, download, posted] = await Promise.all(
      sent.map(async (one) => {
        const answer = await one;
        return { status: answer.status, text: await answer.text() };
      }),
    );
    for (const late of [slow!, failing!])
      assert.deepEqual([late.status, JSON.parse(late.text).error.code], [503, 'unavailable']);
    assert.deepEqual(download, { status: 200, text: 'begun, ended' });
    assert.deepEqual(posted, { status: 200, text: 'begun, ended' });
    while (handled < 2) await pause(50);
    await pause(50);
    const count = (text: string) => logged.filter((line) => line.includes(text)).length;
    assert.deepEqual([count('"request"'), count('no answer within'), count('a defect')], [4, 2, 0]);
  });

  test('for its client to read it, behind which something came that is no HTTP, is cut off in the end', async (context) => {
    const server = httpServer((_request, response) => {
      response.end(Buffer.alloc(UNREAD_BYTES));
    }, undefined);
    context.after(() => server.closeAllConnections());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const taken = once(server, 'connection');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    context.after(() => client.destroy());
    client.on('error', () => {}).pause();
    const begun = performance.now();
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\nnothing\r\n\r\n');
    const [socket] = (await taken) as [Socket];
    const awake = awakeMs();
    await once(socket, 'close');
    assert.ok(awakeMs() - awake < CUT_WITHIN_MS);
    assert.ok(performance.now() - begun > LIMITS.answerMs, 'not before all that was whole is answered');
    server.close();
  });
});
