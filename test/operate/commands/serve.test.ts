// counterfoil serve as a process: ready, ports taken, keys read again, stops that lose nothing.
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { hasOpenssl, temporaryCertificates } from '../../support/certificates.ts';
import {
  ANSI,
  COMMAND,
  type Folder,
  type Running,
  run,
  start,
  temporaryFolder,
} from '../../support/command.ts';
import { KEY } from '../../support/harness.ts';
import { installation, SAFE } from '../../support/production.ts';
import { eventually } from '../../support/waiting.ts';

let folder: Folder;
let servers: Running[];
beforeEach(() => {
  folder = temporaryFolder();
  servers = [];
});
afterEach(async () => {
  for (const { child, ended } of servers) {
    child.kill('SIGKILL');
    await ended;
  }
  folder.remove();
});

/** Puts the folder where production stores something: not in memory. */
function beOnDisk(text: string): void {
  folder.remove();
  const made = installation(text);
  folder = { path: made.folder, config: made.config, remove: made.remove };
}

interface Ready {
  base_url: string;
  port_taken: number | null;
  [name: string]: unknown;
}

async function serve(
  env: Record<string, string> = { PORT: '0' },
  args: string[] = [],
): Promise<{ server: Running; ready: Ready }> {
  const server = start(process.execPath, [COMMAND, 'serve', ...args], { cwd: folder.path, env });
  servers.push(server);
  const [line] = await server.until(/^.*\n/);
  return { server, ready: JSON.parse(line) };
}

function create(base: string, key = KEY): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(`${base}/v1/payments`, { method: 'POST', headers, body: '{"amount": 1}' });
}

/** Takes a port of this machine until the test is over. */
async function takePort(): Promise<{ port: number; release(): void }> {
  const holder = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => holder.once('listening', resolve));
  const { port } = holder.address() as AddressInfo;
  return { port, release: () => holder.close() };
}

test('piped, the first line says that it is ready, in JSON without colours', async () => {
  const { server, ready } = await serve();
  assert.deepEqual(Object.keys(ready), [
    'event',
    'version',
    'environment',
    'base_url',
    'checkout_base_url',
    'development_key',
    'setup_url',
    'register_url',
    'storage',
    'database',
    'port_taken',
    'ready_ms',
  ]);
  assert.equal(ready.event, 'ready');
  assert.equal(ready.development_key, KEY);
  assert.equal(ready.storage, `${folder.path}/storage`);
  assert.equal((await fetch(`${ready.base_url}/health`)).status, 200);
  server.child.kill('SIGTERM');
  assert.deepEqual(await server.ended, { code: 0, signal: null });
  assert.equal(server.stderr, '');
  assert.doesNotMatch(server.stdout, ANSI);
  for (const line of server.stdout.trim().split('\n')) JSON.parse(line);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} under load finishes what was accepted, loses nothing and exits 0`, async () => {
    const { server, ready } = await serve();
    const ids: string[] = [];
    let refused = 0;
    let going = true;
    const client = async () => {
      while (going) {
        try {
          const response = await create(ready.base_url);
          assert.equal(response.status, 201);
          ids.push(((await response.json()) as { data: { id: string } }).data.id);
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          refused++; // not accepted: the listener is closed
          going = false;
        }
      }
    };
    const clients = Array.from({ length: 16 }, client);
    await eventually(() => ids.length >= 200);
    server.child.kill(signal);
    assert.deepEqual(await server.ended, { code: 0, signal: null });
    await Promise.all(clients);
    assert.ok(refused > 0);
    const verified = await run(['audit', 'verify', '--json'], { cwd: folder.path });
    const { payments, checkpoints } = JSON.parse(verified.stdout);
    assert.ok(checkpoints >= 1, 'a last checkpoint is signed at the stop');
    assert.ok(payments >= ids.length);
    const again = await serve();
    const headers = { authorization: `Bearer ${KEY}` };
    for (const id of ids.slice(-100)) {
      const read = await fetch(`${again.ready.base_url}/v1/payments/${id}`, { headers });
      assert.equal(read.status, 200);
    }
  });
}

test('a PORT that is taken is an error of one line', async () => {
  const { port, release } = await takePort();
  try {
    const { code, stdout, stderr } = await run(['serve'], { cwd: folder.path, env: { PORT: String(port) } });
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.equal(
      stderr,
      `counterfoil: port ${port} of 127.0.0.1 is taken: stop what listens there (ss -ltnp shows it), or choose another with PORT=${port + 1}\n`,
    );
  } finally {
    release();
  }
});

test("in development the next port serves where the file's is taken, and the ready line says so", async () => {
  const { port, release } = await takePort();
  try {
    appendFileSync(folder.config, `port: ${port}\n`);
    const { ready } = await serve({});
    assert.equal(ready.port_taken, port);
    assert.notEqual(new URL(ready.base_url).port, String(port));
    assert.equal((await create(ready.base_url)).status, 201);
  } finally {
    release();
  }
});

test('SIGHUP takes new keys over and drops old ones; a broken file changes nothing and is told', async () => {
  const { server, ready } = await serve();
  const logged = (text: string) => eventually(() => server.stdout.includes(text));
  const made = await run(['keys', 'create', '--merchant', 'Corner Shop'], { cwd: folder.path });
  const key = made.stdout.trim();
  assert.equal((await create(ready.base_url, key)).status, 401);
  server.child.kill('SIGHUP');
  await logged('merchants, keys and methods were read again');
  const created = await create(ready.base_url, key);
  assert.equal(created.status, 201);
  assert.equal(
    ((await created.json()) as { data: { merchant_name: string } }).data.merchant_name,
    'Corner Shop',
  );

  const keyed = readFileSync(folder.config, 'utf8');
  const webhook = '    webhooks: [{id: shop, url: "http://localhost:9/hook"}]\n';
  const good = keyed.replace(/name: .?Corner Shop.?\n/, (line) => line + webhook);
  writeFileSync(folder.config, good);
  server.child.kill('SIGHUP');
  const headers = { authorization: `Bearer ${key}` };
  const endpoints = async () =>
    (await (await fetch(`${ready.base_url}/v1/webhook_endpoints`, { headers })).text()).includes(
      '"http://localhost:9/hook"',
    );
  await eventually(endpoints);

  writeFileSync(folder.config, `${good}prot: 1\n`);
  server.child.kill('SIGHUP');
  await logged('merchants, keys and methods stay as they were: counterfoil.yaml:');
  assert.match(server.stdout, /prot is not/);
  assert.equal((await create(ready.base_url, key)).status, 201);
  assert.doesNotMatch(server.stdout, /restart to take over/);

  writeFileSync(folder.config, `${good}time_zone: Europe/Berlin\nregistration: { mode: closed }\n`);
  server.child.kill('SIGHUP');
  await logged('restart to take over what else changed: registration, time_zone"');

  writeFileSync(folder.config, 'environment: development\n');
  server.child.kill('SIGHUP');
  await eventually(async () => (await create(ready.base_url, key)).status === 401);
});

test('SIGHUP reads the certificate again, or goes on with the one that is and says why', {
  skip: !hasOpenssl,
}, async (context) => {
  const certificates = temporaryCertificates();
  context.after(() => certificates.remove());
  const files = certificates.make('localhost');
  appendFileSync(folder.config, `tls: { certificate: ${files.certificate}, key: ${files.key} }\n`);
  const { server } = await serve();
  for (const [key, said] of [
    [files.key, /the certificate was read again/],
    [certificates.make('stranger').key, /the certificate stays as it was: tls\.key: \S+ is not the key of/],
  ] as const) {
    copyFileSync(key, `${files.key}.next`);
    renameSync(`${files.key}.next`, files.key);
    server.child.kill('SIGHUP');
    await server.until(said);
  }
});

test('SIGHUP takes over no other environment: production never accepts the development key', async () => {
  const development = readFileSync(folder.config, 'utf8');
  beOnDisk(SAFE);
  const { server, ready } = await serve();
  assert.equal(ready.environment, 'production');
  writeFileSync(folder.config, development);
  server.child.kill('SIGHUP');
  const [said] = await server.until(/^.*(merchants, keys .*)$/m);
  assert.match(said, /environment changed: restart to/);
});

test('SIGHUP takes nothing over that production would not start with', async () => {
  const account = (iban: string) =>
    `${SAFE}methods:\n  - type: bank_transfer\n    accounts:\n      - { currency: EUR, holder: Shop, iban: ${iban} }\n`;
  beOnDisk(account('DE75512108001245126199'));
  const { server } = await serve();
  const told = async (pattern: RegExp) => {
    server.child.kill('SIGHUP');
    await server.until(pattern);
  };
  writeFileSync(folder.config, account('DE89370400440532013000'));
  await told(
    /methods stay as they were: counterfoil\.yaml:14: methods\[0\]\.accounts\[0\] is a sample account/,
  );
  writeFileSync(folder.config, account('DE75512108001245126199'));
  chmodSync(folder.config, 0o644);
  await told(/methods stay as they were: \S+counterfoil\.yaml: the file may be used by others \(mode 0644\)/);
  chmodSync(folder.config, 0o600);
  await told(/merchants, keys and methods were read again/);
  assert.equal(server.stdout.match(/were read again/g)?.length, 1);
});

test('a start that is refused by a taken port or an unfit certificate writes nothing', async () => {
  const { port, release } = await takePort();
  try {
    for (const [more, said] of [
      [`metrics: { port: ${port} }\n`, /is taken/],
      ['tls: { certificate: none.pem, key: none.pem }\n', /none\.pem does not exist/],
    ] as const) {
      writeFileSync(folder.config, `environment: development\n${more}`);
      const { code, stderr } = await run(['serve'], { cwd: folder.path, env: { PORT: '0' } });
      assert.notEqual(code, 0);
      assert.match(stderr, said);
      assert.deepEqual(readdirSync(folder.path), ['counterfoil.yaml']);
    }
  } finally {
    release();
  }
});

test('a second server on the same store is refused in one line, and the first goes on', async () => {
  const { ready } = await serve();
  const second = await run(['serve'], { cwd: folder.path, env: { PORT: '0' } });
  const said = `counterfoil: the database: another server holds the store (${folder.path}/storage/server.lock): stop it first\n`;
  assert.deepEqual(second, { code: 1, stdout: '', stderr: said });
  const migrating = await run(['migrate'], { cwd: folder.path }); // the next version's goes on beside the server
  assert.deepEqual(migrating, { code: 0, stdout: 'The schema is up to date.\n', stderr: '' });
  assert.equal((await create(ready.base_url)).status, 201);
});

test('a server that was killed leaves the store to the next', async () => {
  const { server, ready } = await serve();
  assert.equal((await create(ready.base_url)).status, 201);
  server.child.kill('SIGKILL');
  await server.ended;
  const next = await serve();
  const headers = { authorization: `Bearer ${KEY}` };
  const list = await fetch(`${next.ready.base_url}/v1/payments`, { headers });
  assert.equal(((await list.json()) as { data: unknown[] }).data.length, 1);
});
