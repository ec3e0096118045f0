// What doctor and the health page say of the hosts of a connection string: one that is dead beside one that lives, none that takes writes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { before, type TestContext, test } from 'node:test';
import type { Subject } from '../../../src/operate/checks/check.ts';
import { CHECKS } from '../../../src/operate/checks/checks.ts';
import { freePorts } from '../../support/free-ports.ts';

const check = CHECKS.find(({ id }) => id === 'database_hosts')!;
/** Less than the check's own limit, 3 s. */
const DEADLINE_MS = 400;

const running = new URL(process.env.COUNTERFOIL_TEST_POSTGRES!);
const silent: string[] = [];
before(async () => {
  silent.push(...(await freePorts(2)).map((port) => `127.0.0.1:${port}`));
});

/** Lets no time pass but what a test ticks: whoever answers is not late, however slow the machine is. */
function stopTime({ mock }: TestContext): void {
  const now = performance.now();
  mock.method(performance, 'now', () => now);
  mock.timers.enable({ apis: ['setTimeout'] });
}

const look = async (database_url: string | null, deadlineMs = 5000) => {
  const { is, says, fix } = await check.look({ settings: { database_url }, deadlineMs } as Subject);
  assert.doesNotMatch(`${says} ${fix}`, /hidden/, 'a password is shown');
  return `${is}: ${says}${fix === undefined ? '' : `; ${fix}`}`;
};
const among = (...hosts: string[]) => running.href.replace(running.host, hosts.join(','));
const refusal = (host: string) => `${host} does not answer: connect ECONNREFUSED ${host}`;

test('hosts that answer are told with what they are.', async (context) => {
  stopTime(context);
  assert.equal(
    await look(among(running.host, `localhost:${running.port}`)),
    `ok: ${running.host} is a primary; localhost:${running.port} is a primary`,
    'two names of one server are no two primaries',
  );
});

test('a host that is dead beside a primary is a warning, wherever it stands.', async (context) => {
  stopTime(context);
  const dead = silent[0]!;
  const fix = 'start the one that does not answer, or take it out of database_url';
  for (const [hosts, told] of [
    [[running.host, dead], `${running.host} is a primary; ${refusal(dead)}`],
    [[dead, running.host], `${refusal(dead)}; ${running.host} is a primary`],
  ] as const)
    assert.equal(await look(among(...hosts)), `warning: ${told}; ${fix}`);
});

test('where no host takes writes it fails, and says of each why.', async (context) => {
  stopTime(context);
  assert.equal(
    await look(`postgres://app:hidden@${silent}/name`),
    `failed: No host that database_url names takes writes: ${silent.map(refusal).join('; ')}; ` +
      'start the primary, or promote the standby that has all it had',
  );
  const readOnly = `${among(running.host, silent[0]!)}?options=-c%20default_transaction_read_only%3Don`;
  assert.match(await look(readOnly), /^failed: No .*127\.0\.0\.1:\d+ takes no writes: its/);
});

/** A port that only listens; what it is sent to, where there is a server, answers as it would. */
async function hostOf(context: TestContext, onConnection: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

test('a host that says nothing at all is waited for until the deadline, and who does answer is told beside it.', async (context) => {
  const mute = await hostOf(context, () => {});
  const primary = await hostOf(context, (socket) => {
    const upstream = connect(Number(running.port), running.hostname);
    socket.pipe(upstream).pipe(socket);
    upstream.on('error', () => {});
  });
  stopTime(context);
  const told = look(among(mute.host, primary.host), DEADLINE_MS);
  const isAsked = () => mute.sockets.length === 1 && primary.sockets[0]?.closed;
  while (!isAsked()) await new Promise((resolve) => setImmediate(resolve));
  context.mock.timers.tick(DEADLINE_MS);
  assert.match(
    await told,
    new RegExp(`^warning: ${mute.host} .* answer: [^;]*; ${primary.host} is a primary; `),
  );
  const alone = look(among(mute.host, mute.host), DEADLINE_MS);
  while (mute.sockets.length < 3) await new Promise((resolve) => setImmediate(resolve));
  context.mock.timers.tick(DEADLINE_MS);
  assert.match(await alone, new RegExp(`^failed: .*: (${mute.host} does not answer: [^;]*; ){2}`));
});

test('one host, or none, is not asked.', async () => {
  assert.equal(await look(running.href), 'skipped: database_url names one host');
  assert.equal(await look(null), 'skipped: SQLite has no hosts');
});
