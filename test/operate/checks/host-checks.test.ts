// What doctor and the health page say of the hosts of a connection string: one that is dead beside one that lives, none that takes writes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { before, test } from 'node:test';
import type { Subject } from '../../../src/operate/checks/check.ts';
import { CHECKS } from '../../../src/operate/checks/checks.ts';
import { freePorts } from '../../support/free-ports.ts';
import { startPostgres } from '../../support/postgres-server.ts';

const check = CHECKS.find(({ id }) => id === 'database_hosts')!;
const DEADLINE_MS = 400;
/** Until the answer, on a machine that others use: less than the check's own limit, 3 s. */
const PATIENCE_MS = 2900;

const running = new URL(process.env.COUNTERFOIL_TEST_POSTGRES!);
const silent: string[] = [];
before(async () => {
  silent.push(...(await freePorts(2)).map((port) => `127.0.0.1:${port}`));
});

const look = async (database_url: string | null, deadlineMs = 5000) => {
  const { is, says, fix } = await check.look({ settings: { database_url }, deadlineMs } as Subject);
  assert.doesNotMatch(`${says} ${fix}`, /hidden/, 'a password is shown');
  return `${is}: ${says}${fix === undefined ? '' : `; ${fix}`}`;
};
const among = (...hosts: string[]) => running.href.replace(running.host, hosts.join(','));
const refusal = (host: string) => `${host} does not answer: connect ECONNREFUSED ${host}`;

test('hosts that answer are told with what they are.', async () => {
  assert.equal(
    await look(among(running.host, `localhost:${running.port}`)),
    `ok: ${running.host} is a primary; localhost:${running.port} is a primary`,
    'two names of one server are no two primaries',
  );
});

test('two servers that take writes are a warning, also on one timeline.', async (context) => {
  const other = await startPostgres();
  context.after(() => other.stop());
  const { host } = new URL(other.url);
  const told = `${running.host} is a primary; ${host} is a primary`;
  const fix = 'unless these are names of one server, stop all but the one that holds all';
  assert.equal(await look(among(running.host, host)), `warning: 2 hosts take writes: ${told}; ${fix}`);
});

test('a host that is dead beside a primary is a warning, wherever it stands.', async () => {
  const dead = silent[0]!;
  const fix = 'start the one that does not answer, or take it out of database_url';
  for (const [hosts, told] of [
    [[running.host, dead], `${running.host} is a primary; ${refusal(dead)}`],
    [[dead, running.host], `${refusal(dead)}; ${running.host} is a primary`],
  ] as const)
    assert.equal(await look(among(...hosts)), `warning: ${told}; ${fix}`);
});

test('where no host takes writes it fails, and says of each why.', async () => {
  assert.equal(
    await look(`postgres://app:hidden@${silent}/name`),
    `failed: No host that database_url names takes writes: ${silent.map(refusal).join('; ')}; ` +
      'start the primary, or promote the standby that has all it had',
  );
  const readOnly = `${among(running.host, silent[0]!)}?options=-c%20default_transaction_read_only%3Don`;
  assert.match(
    await look(readOnly),
    /^failed: No host .*: 127\.0\.0\.1:\d+ takes no writes: its transactions are read-only; 127/,
  );
});

test('a host that says nothing at all is waited for no longer than the deadline.', async (context) => {
  const sockets: Socket[] = [];
  const mute = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(mute, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    mute.close();
  });
  const host = `127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const begun = performance.now();
  const told = await look(among(host, host), DEADLINE_MS);
  const ms = performance.now() - begun;
  assert.match(told, new RegExp(`^failed: .*: (${host} does not answer: [^;]*; ){2}start the primary, `));
  assert.ok(ms < PATIENCE_MS, `it took ${ms} ms`);
  // Who does answer has longer for it: the machine may stand still meanwhile.
  assert.match(
    await look(among(host, running.host)),
    new RegExp(`^warning: ${host} does not answer: [^;]*; ${running.host} is a primary; `),
  );
});

test('one host, or none, is not asked.', async () => {
  assert.equal(await look(running.href), 'skipped: database_url names one host');
  assert.equal(await look(null), 'skipped: SQLite has no hosts');
});
