// The image, built from the Dockerfile and run as compose.yaml runs it: payments, health check, backup and restore, on both engines.
// NODE_IMAGE and POSTGRES_IMAGE name other bases, as in .env; COUNTERFOIL_RUN_FLAGS adds flags to `podman run`, such as `--cgroups=disabled`.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ROOT } from '../support/command.ts';
import { type DebianPostgres, debianPostgres, startDebianPostgres } from '../support/debian-postgres.ts';
import { freePort } from '../support/free-ports.ts';
import { ask } from '../support/harness.ts';
import { isInstalled } from '../support/proxy.ts';
import { holdsWithin } from './promised-time.ts';

/** Of this run alone: another, of other sources, may be at work beside it. */
const IMAGE = `counterfoil-campaign-${process.pid}`;
const ACCOUNT = 10001;
const STARTS_WITHIN_MS = 60_000;
const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const bases = [...dockerfile.matchAll(/^ARG (\w+_IMAGE)=(\S+)$/gm)].map(([, name, image]) => ({
  name: name!,
  image: process.env[name!] ?? image!,
}));
const HEALTH_CHECK: string[] = JSON.parse(/^ {2}CMD (\["node".*\])$/m.exec(dockerfile)![1]!);
/** As compose.yaml has it. */
const HARDENED = [
  '--read-only',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  '--tmpfs=/tmp:size=16m,mode=1777,noexec,nosuid,nodev',
  '--no-healthcheck',
  '--network=host',
  ...(process.env.COUNTERFOIL_RUN_FLAGS ?? '').split(' ').filter(Boolean),
];

const podman = (...args: string[]) => execFileSync('podman', args, { encoding: 'utf8', stdio: 'pipe' });

function whyNot(): string | false {
  if (process.getuid?.() !== 0) return 'only root may give files to the account of the image';
  if (!isInstalled('podman', '--version')) return 'podman is not installed';
  const lacking = bases.find(({ image }) => spawnSync('podman', ['image', 'exists', image]).status !== 0);
  return lacking ? `podman has no image ${lacking.image} (podman pull, or ${lacking.name})` : false;
}

/** An installation as install.md makes it: its folders on the host, mounted into each container. */
class Installation {
  readonly #folder = mkdtempSync(join(tmpdir(), 'counterfoil-containers-'));
  readonly port: number;
  readonly name: string;

  constructor(name: string, port: number) {
    this.name = `${IMAGE}-${name}-${port}`;
    this.port = port;
    for (const part of ['etc', 'storage', 'restored', 'backups']) this.#make(part);
  }

  #make(part: string): void {
    mkdirSync(join(this.#folder, part), { mode: 0o700 });
    chownSync(join(this.#folder, part), ACCOUNT, ACCOUNT);
  }

  #flags(storage: string, env: Record<string, string>): string[] {
    const mount = (part: string, place: string) => `--volume=${join(this.#folder, part)}:${place}`;
    const health = `http://127.0.0.1:${this.port}/health/ready`;
    const given = Object.entries({ PORT: `${this.port}`, HEALTH_URL: health, ...env });
    return [
      ...HARDENED,
      mount('etc', '/etc/counterfoil'),
      mount(storage, '/var/lib/counterfoil'),
      mount('backups', '/var/backups/counterfoil'),
      ...given.map(([name, value]) => `--env=${name}=${value}`),
    ];
  }

  /** Runs one command in a container of its own. */
  once(args: string[], { storage = 'storage', env = {} } = {}): string {
    return podman('run', '--rm', ...this.#flags(storage, env), IMAGE, ...args);
  }

  serve(env: Record<string, string>): void {
    podman('run', '--detach', `--name=${this.name}`, ...this.#flags('storage', env), IMAGE);
  }

  exec(...args: string[]): string {
    return podman('exec', this.name, ...args);
  }

  logs(): string {
    const { stdout, stderr } = spawnSync('podman', ['logs', this.name], { encoding: 'utf8' });
    return stdout + stderr;
  }

  remove(): void {
    spawnSync('podman', ['rm', '--force', this.name]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

describe('the image', { skip: whyNot() }, () => {
  before(() => {
    const args = bases.map(({ name, image }) => `--build-arg=${name}=${image}`);
    // Without layers that are kept: what is removed at the end is nobody else's.
    podman('build', '--format=docker', '--layers=false', '--network=host', ...args, `--tag=${IMAGE}`, ROOT);
  });
  after(() => spawnSync('podman', ['rmi', '--force', IMAGE]));

  test('serves, is healthy, and backs up and restores on SQLite', async (t) => {
    const site = new Installation('sqlite', await freePort());
    t.after(() => site.remove());
    await walk(site, {}, {});
  });

  describe('on PostgreSQL', { skip: debianPostgres ? false : 'PostgreSQL is not installed' }, () => {
    let postgres: DebianPostgres;
    before(async () => {
      postgres = await startDebianPostgres('on');
    });
    after(() => postgres.stop());

    test('it does so too', async (t) => {
      const site = new Installation('postgres', await freePort());
      t.after(() => site.remove());
      const DATABASE_URL = await postgres.createDatabase('served');
      await walk(site, { DATABASE_URL }, { DATABASE_URL: await postgres.createDatabase('restored') });
    });
  });
});

/** Install, serve, pay, back up, restore elsewhere, stop: `env` of the service, `elsewhere` of what is restored. */
async function walk(
  site: Installation,
  env: Record<string, string>,
  elsewhere: Record<string, string>,
): Promise<void> {
  const flags = [
    '--base-url',
    'https://pay.example',
    '--merchant',
    'Corner Shop',
    '--support',
    'help@shop.example',
  ];
  const written = site.once(['init', '--json', ...flags]);
  const { key } = JSON.parse(written.split('\n').find((line) => line.startsWith('{'))!);
  site.serve(env);
  await holdsWithin(
    STARTS_WITHIN_MS,
    () => spawnSync('podman', ['exec', site.name, ...HEALTH_CHECK]).status === 0,
    () => site.logs(),
  );
  const body = { amount: 49.9, currency: 'EUR', merchant_reference: 'order-7' };
  const created = await ask(`http://127.0.0.1:${site.port}`, '/v1/payments', { method: 'POST', key, body });
  assert.equal(created.status, 201, created.text);
  const { data } = created.json;

  const made = JSON.parse(site.exec('counterfoil', 'backup', '/var/backups/counterfoil', '--json'));
  site.exec('counterfoil', 'audit', 'verify');
  const other = { storage: 'restored', env: elsewhere };
  site.once(['restore', made.backup], other);
  assert.match(site.once(['payments', 'show', data.id], other), /order-7/);

  podman('stop', '--time=12', site.name);
  const state = podman('inspect', '--format={{.State.ExitCode}}', site.name).trim();
  assert.equal(state, '0', site.logs());
}
