// One attempt against real servers on loopback: what counts as taken, what is told of a failure, and what a hostile answer may cost.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import {
  ClientRequest,
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, mock, test } from 'node:test';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type AddressRules, DEVELOPMENT_RULES } from '../../src/webhooks/addresses.ts';
import { type AttemptOutcome, attemptDelivery } from '../../src/webhooks/attempt.ts';
import type { LookUp } from '../../src/webhooks/connection.ts';
import { hasValidSignature, newWebhookSecret } from '../../src/webhooks/signing.ts';
import { freePort } from '../support/free-ports.ts';
import { startHarness } from '../support/harness.ts';
import { becomes } from '../support/waiting.ts';

const SECRETS = [newWebhookSecret(), newWebhookSecret()];
const BODY = JSON.stringify({ type: 'payment.approved', data: { merchant_reference: 'Bücher 😀' } });

const servers: { close(): unknown; closeAllConnections?(): void }[] = [];
// No attempt is given up, however long this process stands still: time passes for it where a test says so.
before(() => mock.timers.enable({ apis: ['setTimeout'] }));
after(() => {
  mock.timers.reset();
  for (const server of servers) {
    server.closeAllConnections?.();
    server.close();
  }
});

const listening = async <S extends Server | ReturnType<typeof createServer>>(server: S): Promise<number> => {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

/** A server that answers as told. Gives its port. */
const answering = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  listening(createHttpServer(answer));

/** A server that writes bytes, once a request began. Gives its port. */
const writing = (write: (socket: Socket) => void) =>
  listening(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => write(socket));
    }),
  );

const send = (
  url: string,
  rules: AddressRules = DEVELOPMENT_RULES,
  signal?: AbortSignal,
  lookUp: LookUp = publicLookUp,
) =>
  attemptDelivery(
    { url, id: 'evt_1_2', body: BODY, secrets: SECRETS, at: Date.now() },
    rules,
    signal,
    lookUp,
  );
const sendTo = (port: number) => send(`http://localhost:${port}/hook`);

/** Every name but localhost has a public address, where the proxy below leads to a port of this machine. */
const publicLookUp = async (name: string) => (name === 'localhost' ? ['127.0.0.1'] : ['93.184.216.34']);

/** A proxy that takes every tunnel to `port` of this machine. Gives its URL and the tunnels that were asked for. */
async function startProxy(port: number): Promise<{ url: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const proxy = createHttpServer((_request, response) => response.writeHead(405).end());
  proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push(request);
    const onward = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    for (const one of [socket, onward]) one.on('error', () => {});
    socket.on('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  return { url: `http://localhost:${await listening(proxy)}`, asked };
}

/** Attempts to a public address, which is that of `port`. */
async function sendToPublic(port: number): Promise<AttemptOutcome> {
  const { url } = await startProxy(port);
  return send('http://shop.example/hook', { allowHttp: true, allowedNetworks: [], ports: [80], proxy: url });
}

test('an attempt is one signed POST of the body as it stands', async () => {
  const taken: { request: IncomingMessage; body: Buffer }[] = [];
  const port = await answering(async (request, response) => {
    taken.push({ request, body: Buffer.concat(await request.toArray()) });
    response.writeHead(204).end();
  });
  const outcome = await send(`http://localhost:${port}/hook?shop=1#part`);
  const { ms, ...rest } = outcome;
  assert.ok(Number.isInteger(ms) && ms >= 0);
  const reason = `Your server answered 204 in ${ms} ms`;
  assert.deepEqual(rest, { ok: true, status: 204, reason, reply: null, retryAfterMs: null });
  assert.equal(taken.length, 1);
  const { request, body } = taken[0]!;
  assert.equal(`${request.method} ${request.url}`, 'POST /hook?shop=1');
  assert.equal(request.headers.host, `localhost:${port}`);
  assert.equal(request.headers['content-type'], 'application/json');
  assert.equal(request.headers['webhook-id'], 'evt_1_2');
  assert.match(request.headers['user-agent']!, /^Counterfoil\/\d/);
  assert.equal(body.toString(), BODY);
  for (const secret of SECRETS)
    assert.ok(hasValidSignature({ secrets: [secret], headers: request.headers, body, now: Date.now() }));
});

test('only a status from 200 to 299 is success', async () => {
  let status = 0;
  const port = await answering((_request, response) => response.writeHead(status).end());
  for (status of [
    200, 201, 202, 204, 206, 226, 299, 300, 301, 304, 307, 400, 401, 404, 409, 410, 418, 429, 500, 503, 599,
  ]) {
    const outcome = await sendTo(port);
    assert.equal(outcome.status, status);
    assert.equal(outcome.ok, status < 300, `${status}`);
    if (status >= 400) assert.equal(outcome.reason, `Your server answered ${status} in ${outcome.ms} ms`);
  }
});

test('a redirect is a failure and is not followed', async () => {
  let followed = 0;
  const target = await answering((_request, response) => {
    followed++;
    response.end();
  });
  for (const status of [301, 302, 303, 307, 308]) {
    const headers = {
      location: `http://localhost:${target}/`,
      refresh: `0; url=http://localhost:${target}/`,
    };
    const outcome = await sendTo(
      await answering((_request, response) => response.writeHead(status, headers).end()),
    );
    assert.equal(outcome.ok, false);
    assert.match(outcome.reason, new RegExp(`answered ${status}, a redirect, .* in`));
  }
  assert.equal(followed, 0);
});

test('Retry-After is understood in seconds and as a date, and only from a server that did not take it', async () => {
  let header = '';
  let status = 503;
  const port = await answering((_request, response) =>
    response.writeHead(status, { 'retry-after': header }).end(),
  );
  const asked = async (value: string) => {
    header = value;
    return (await sendTo(port)).retryAfterMs;
  };
  assert.equal(await asked('0'), 0);
  assert.equal(await asked('120'), 120_000);
  assert.equal(await asked('86400'), 86_400_000);
  assert.equal(await asked('9999999999'), 9_999_999_999_000);
  const inAnHour = await asked(new Date(Date.now() + 3_600_000).toUTCString());
  assert.ok(inAnHour! > 3_590_000 && inAnHour! <= 3_600_000, `${inAnHour}`);
  assert.equal(await asked('Mon, 01 Jan 2001 00:00:00 GMT'), 0);
  for (const silly of [
    '-1',
    '1.5',
    '1e9',
    'soon',
    '',
    '2100',
    '12 seconds',
    '99999999999',
    'Mon, 99 Foo 2001 00:00:00 GMT',
    '2100-01-01',
  ])
    assert.equal(await asked(silly), silly === '2100' ? 2_100_000 : null, silly);
  status = 200;
  assert.equal(await asked('120'), null);
});

test('the first 4 KiB of the reply of a public address are kept, as text that is safe to store and to show', async () => {
  let reply: Buffer = Buffer.alloc(0);
  const headers: Record<string, string> = {};
  const port = await answering((_request, response) => response.writeHead(500, headers).end(reply));
  const kept = async (bytes: string | Buffer) => {
    reply = Buffer.from(bytes);
    return (await sendToPublic(port)).reply;
  };
  assert.equal(await kept('Sorry.\n\tTry later.'), 'Sorry.\n\tTry later.');
  assert.equal(await kept('x'.repeat(10_000)), 'x'.repeat(4096));
  assert.equal(await kept(''), '');
  assert.equal(
    await kept(Buffer.from([0x61, 0, 0x1b, 0x5b, 0x33, 0x7f, 0xff, 0xc2, 0x9b])),
    'a\ufffd\ufffd[3\ufffd\ufffd\ufffd',
  );
  assert.ok((await kept('😀'.repeat(5000)))!.isWellFormed());
  assert.equal((await sendTo(port)).reply, null, 'what a private server answers is kept for nobody');
  headers['content-encoding'] = 'gzip';
  assert.equal(await kept('not text'), null);
});

test('through a proxy, the checked address is asked for and never the name', async () => {
  const port = await answering((request, response) => response.end(request.headers.host));
  const { url, asked } = await startProxy(port);
  const rules = {
    allowHttp: true,
    allowedNetworks: [],
    ports: [80],
    proxy: url.replace('//', '//us%20er:p%40ss@'),
  };
  const outcome = await send('http://shop.example/hook', rules);
  assert.deepEqual([outcome.ok, outcome.reply], [true, 'shop.example']);
  assert.deepEqual(
    asked.map((request) => request.url),
    ['93.184.216.34:80'],
  );
  assert.equal(asked[0]!.headers['proxy-authorization'], `Basic ${btoa('us er:p@ss')}`);
  const inside = await send('http://shop.example/hook', rules, undefined, async () => ['10.0.0.1']);
  assert.equal(inside.reason, 'The name shop.example does not lead to public addresses');
  assert.equal(asked.length, 1, 'the proxy is not even asked');
});

test('a proxy that refuses, is not there or is none is told apart from the server', async () => {
  const at = (proxy: string) =>
    send('http://shop.example/', { allowHttp: true, allowedNetworks: [], ports: [80], proxy });
  const refusing = createHttpServer().on('connect', (_request, socket) =>
    socket.end('HTTP/1.1 403 No\r\n\r\n'),
  );
  const refused = await at(`http://localhost:${await listening(refusing)}`);
  assert.equal(refused.reason, 'The proxy for webhooks refused the connection with 403');
  const none = await at(`http://localhost:${await freePort()}`);
  assert.match(none.reason, /^The proxy .* failed: .*ECONNREFUSED/);
  const other = await at(`http://localhost:${await writing((socket) => socket.end('hello\r\n'))}`);
  assert.match(other.reason, /^The proxy .* failed: /);
});

test('failures are told in words', async () => {
  assert.equal((await sendTo(await freePort())).reason, 'Your server refused the connection');
  const closing = await writing((socket) => socket.end());
  assert.equal((await sendTo(closing)).reason, 'Your server closed the connection without an answer');
  const resetting = await writing((socket) => socket.resetAndDestroy());
  assert.equal((await sendTo(resetting)).reason, 'Your server closed the connection without an answer');
  for (const garbage of [
    'hello\r\n\r\n',
    'HTTP/9.9 200 OK\r\n\r\n',
    'HTTP/1.1 999999 OK\r\n\r\n',
    'HTTP/1.1 200 OK\r\na b: c\r\n\r\n',
    '\0\0\0\0',
  ])
    assert.equal(
      (await sendTo(await writing((socket) => socket.end(garbage)))).reason,
      'Your server answered with something that is not HTTP',
      garbage,
    );
  const switching = await writing((socket) =>
    socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  );
  assert.equal((await sendTo(switching)).reason, 'Your server switched protocols instead of answering');
  assert.equal(
    (await send('https://192.0.2.1/')).reason,
    'The address is refused: Must name its host: an IP address is not allowed',
  );
  const nobody = await send('http://shop.example/', DEVELOPMENT_RULES, undefined, async () => []);
  assert.deepEqual([nobody.ok, nobody.status], [false, null]);
});

/** Writes until the other side is gone; says how much went out. */
async function flood(socket: Socket, chunk: Buffer | string): Promise<number> {
  let bytes = 0;
  const closed = once(socket, 'close').then(() => socket.destroy());
  while (!socket.destroyed) {
    bytes += chunk.length;
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), closed]).catch(() => {});
  }
  return bytes;
}

test('a reply without end, headers without end and a compressed bomb cost little memory and end at once', async () => {
  const flooded: Promise<number>[] = [];
  const heads = {
    plain: 'HTTP/1.1 200 OK\r\n\r\n',
    chunked: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n',
    bomb: 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n',
    headers: 'HTTP/1.1 200 OK\r\nx: ',
  };
  const chunk = Buffer.alloc(65_536, 'a');
  const before = process.memoryUsage();
  for (const [name, head] of Object.entries(heads)) {
    const port = await writing((socket) => {
      socket.write(head);
      flooded.push(flood(socket, chunk));
    });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => sendTo(port)));
    for (const { ok, reason } of outcomes) {
      assert.equal(ok, name !== 'headers', `${name}: ${reason}`);
      if (name === 'headers') assert.equal(reason, 'Your server sent more than 16 KiB of headers');
    }
  }
  const sizes = await Promise.all(flooded);
  assert.equal(sizes.length, 80);
  assert.ok(Math.max(...sizes) < 16e6, `a server wrote ${Math.max(...sizes)} bytes`);
  const grown = process.memoryUsage().rss - before.rss;
  assert.ok(grown < 150e6, `${grown} bytes more`);
});

const INTERIM_HEADS = {
  continue: 'HTTP/1.1 100 Continue\r\n\r\n',
  processing: 'HTTP/1.1 102 Processing\r\n\r\n',
  'early hints': 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
};

test('eight interim answers are passed over; the ninth ends the attempt, however many come at once', async () => {
  for (const [name, head] of Object.entries(INTERIM_HEADS)) {
    const eight = await writing((socket) => socket.end(`${head.repeat(8)}HTTP/1.1 204 Done\r\n\r\n`));
    assert.equal((await sendTo(eight)).status, 204, name);
    const nine = await writing((socket) => socket.end(`${head.repeat(9)}HTTP/1.1 204 Done\r\n\r\n`));
    const refused = await sendTo(nine);
    assert.deepEqual([refused.ok, refused.status], [false, null]);
    assert.equal(refused.reason, 'Your server sent more than 8 interim answers (status 100 to 199)', name);
  }
});

test('interim answers without end hold the attempt for less than a megabyte, make one error, and few are parsed', async () => {
  const { prepareStackTrace } = Error;
  let failures = 0;
  let parsed = 0;
  const { emit } = ClientRequest.prototype;
  ClientRequest.prototype.emit = function (name: string | symbol, ...args: unknown[]) {
    if (name === 'information') parsed++;
    return emit.call(this, name, ...args);
  };
  Error.prepareStackTrace = (error) => {
    if (error.name === 'AttemptFailure') failures++;
    return String(error);
  };
  try {
    for (const head of Object.values(INTERIM_HEADS)) {
      const flooded: Promise<number>[] = [];
      const chunk = head.repeat(2600);
      const port = await writing((socket) => void flooded.push(flood(socket, chunk)));
      parsed = 0;
      const outcome = await sendTo(port);
      assert.match(outcome.reason, /more than 8 interim/);
      assert.ok(parsed <= 50, `${parsed} of one read of the socket`);
      assert.ok((await flooded[0])! < 16e6);
    }
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    ClientRequest.prototype.emit = emit;
  }
  assert.ok(failures <= Object.keys(INTERIM_HEADS).length, `${failures} errors`);
});

test('what an answer is wrapped in is bounded too: chunks of one byte, their extensions, and trailers', async () => {
  const bodies = {
    'one byte a chunk': ['', `1;${'e'.repeat(15_000)}\r\nx\r\n`],
    extensions: ['1;', 'e'.repeat(65_536)],
    trailers: ['0\r\nx: ', 'y'.repeat(65_536)],
  };
  for (const [name, [begin, chunk]] of Object.entries(bodies)) {
    const flooded: Promise<number>[] = [];
    const port = await writing((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${begin}`);
      flooded.push(flood(socket, chunk!));
    });
    const outcome = await sendTo(port);
    assert.equal(outcome.ok, true, `${name}: ${outcome.reason}`);
    assert.ok((await flooded[0])! < 16e6, name);
  }
  const wrapped = await writing((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    void flood(socket, `1;${'e'.repeat(200)}\r\nx\r\n`.repeat(100));
  });
  const { reply } = await sendToPublic(wrapped);
  assert.match(reply!, /^x+$/);
  assert.ok(reply!.length < 1500, `${reply!.length} chunks were read`);
});

test('an attempt ends after 15 seconds, and its connection and look-up after 5, however slowly they go on', async (t) => {
  const begun: Promise<unknown>[] = [];
  /** A server that says no more than this, of which each connection counts as begun with its first bytes. Gives its port. */
  const saying = (head: string, drop?: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    begun.push(promise);
    return writing((socket) => {
      socket.write(head);
      const timer = drop && setInterval(() => socket.write(drop), 200);
      socket.on('close', () => clearInterval(timer));
      resolve();
    });
  };
  const [silent, headers] = [await saying(''), await saying('HTTP/1.1 200 OK\r\n', 'x')];
  const body = await saying('HTTP/1.1 200 OK\r\n\r\n', 'x');
  const [noTls, noTunnel] = [await saying(''), await saying('')];
  const rules = { allowHttp: true, allowedNetworks: [], ports: [80], proxy: `http://localhost:${noTunnel}` };
  const answered = new Promise<void>((resolve) => {
    const count = (message: unknown) => {
      if ((message as { response: IncomingMessage }).response.statusCode === 200) resolve();
    };
    subscribe('http.client.response.finish', count);
    t.after(() => unsubscribe('http.client.response.finish', count));
  });
  const attempts = [
    send(`https://localhost:${noTls}/`),
    send('http://shop.example/', rules),
    send('http://shop.example/', DEVELOPMENT_RULES, undefined, () => new Promise<never>(() => {})),
    ...[silent, headers, body].map(sendTo),
  ];
  let ended = 0;
  for (const attempt of attempts) attempt.then(() => ended++);
  /** Lets time pass. Gives how many have ended by then. */
  const after = async (ms: number) => {
    mock.timers.tick(ms);
    await setImmediate();
    return ended;
  };
  await Promise.all([...begun, answered]);
  assert.equal(await after(4999), 0);
  mock.timers.tick(1);
  await becomes(3, () => ended);
  for (const { reason } of await Promise.all(attempts.slice(0, 3)))
    assert.match(reason, /^No connection to (localhost:\d+|shop\.example) within 5 s$/);
  assert.equal(await after(9999), 3);
  mock.timers.tick(1);
  await becomes(6, () => ended);
  const late = 'Your server did not answer within 15 s';
  assert.deepEqual(
    (await Promise.all(attempts.slice(3))).map(({ ok, reason }) => ok || reason),
    [late, late, true],
    'the status decides, however the body goes on',
  );
});

test('an attempt that its caller ends rejects with the reason of that, at every stage', async () => {
  const silent = await writing(() => {});
  const reason = new Error('the node stops');
  await assert.rejects(
    send(`http://localhost:${silent}/`, DEVELOPMENT_RULES, AbortSignal.abort(reason)),
    reason,
  );
  const never = () => new Promise<never>(() => {});
  for (const [url, lookUp] of [
    [`http://localhost:${silent}/`, publicLookUp],
    [`https://localhost:${silent}/`, publicLookUp],
    ['http://shop.example/', never],
  ] as const) {
    const stop = new AbortController();
    const attempt = send(url, DEVELOPMENT_RULES, stop.signal, lookUp);
    const rejected = assert.rejects(attempt, reason);
    await delay(100);
    stop.abort(reason);
    await rejected;
  }
});

test('attempts to our own checkout, API, sign-in and registration change nothing', async () => {
  await using harness = await startHarness('sqlite');
  const { id, checkout_url } = await harness.create();
  const before = await harness.request(`/v1/payments/${id}`);
  const { entries } = await harness.verify();
  const paths = ['/v1/payments', `/v1/payments/${id}/cancel`, '/console/sign-in', '/register', '/health'];
  const base = harness.origin.replace('127.0.0.1', 'localhost');
  const checkout = `${base}${new URL(checkout_url).pathname}${new URL(checkout_url).search}`;
  for (const url of [checkout, ...paths.map((path) => base + path)]) {
    const { status, reason } = await send(url);
    assert.ok(status! >= 400 && status! < 500, `${url}: ${reason}`);
  }
  assert.deepEqual((await harness.request(`/v1/payments/${id}`)).json, before.json);
  assert.equal((await harness.verify()).entries, entries);
});

test('nothing is kept of an attempt that has ended, however long the signal to stop it lasts', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const port = await answering((_, response) => response.end());
  const stopping = new AbortController();
  const signals: WeakRef<AbortSignal>[] = [];
  const rules = { ...DEVELOPMENT_RULES, allowedNetworks: ['127.0.0.0/8'] };
  for (let i = 0; i < 5; i++)
    await send(`http://hooks.example:${port}`, rules, stopping.signal, async (_, signal) => {
      signals.push(new WeakRef(signal));
      return ['127.0.0.1'];
    });
  const kept = () => signals.filter((one) => one.deref() !== undefined).length;
  for (let looks = 0; looks < 20 && kept() > 0; looks++) {
    await delay(1);
    collectGarbage();
  }
  assert.deepEqual([signals.length, kept()], [5, 0]);
});
