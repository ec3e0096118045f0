// Two machines with Debian's PostgreSQL, each a folder and a port: one is the primary, the other its standby, until a failover.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePorts } from './free-ports.ts';
import { eventually } from './waiting.ts';

const BINARIES = globSync('/usr/lib/postgresql/*/bin/pg_basebackup')
  .map((file) => join(file, '..'))
  .sort()
  .at(-1);
const isRoot = process.getuid?.() === 0;
/** PostgreSQL refuses to run as root: then it is the account that Debian's package makes. */
const account = isRoot ? accountNamed('postgres') : undefined;

/** Why no standby can be made on this machine; undefined where one can. */
export const NO_STANDBY =
  BINARIES === undefined
    ? "Debian's PostgreSQL (initdb, pg_basebackup) is not installed here"
    : isRoot && !account
      ? 'PostgreSQL does not run as root, and there is no account postgres here'
      : undefined;

function accountNamed(name: string): { uid: number; gid: number } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8').match(new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm'));
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : undefined;
}

const run = (program: string, args: string[]) =>
  promisify(execFile)(join(BINARIES!, program), args, { ...account, cwd: tmpdir() });

export class PostgresHost {
  readonly port: number;
  readonly #folder: string;
  #process: ChildProcess | undefined;
  /** What the server has logged since it was started last. */
  log: string[] = [];

  constructor(port: number) {
    this.port = port;
    this.#folder = mkdtempSync(join(tmpdir(), 'counterfoil-host-'));
    if (account) chownSync(this.#folder, account.uid, account.gid);
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  /** Makes an empty cluster of it. */
  async initialise(): Promise<void> {
    const options = [
      '--username=postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
      '--no-sync',
    ];
    await run('initdb', [`--pgdata=${this.#data}`, ...options]);
  }

  /** Makes a copy of another that follows it, in the place of whatever was here, and starts it. */
  async follow(primary: PostgresHost): Promise<void> {
    rmSync(this.#data, { recursive: true, force: true });
    const from = `--dbname=host=127.0.0.1 port=${primary.port} user=postgres`;
    const options = ['--write-recovery-conf', '--checkpoint=fast', '--wal-method=stream', '--no-sync'];
    await run('pg_basebackup', [from, `--pgdata=${this.#data}`, ...options]);
    this.demandStandby(false);
    // As docs/operating/runbook.md advises: a promotion may wait for so long, which is five seconds by default.
    appendFileSync(join(this.#data, 'postgresql.auto.conf'), "wal_retrieve_retry_interval = '200ms'\n");
    await this.start();
  }

  /** Whether, from its next start on, each commit waits for a standby. */
  demandStandby(wanted: boolean): void {
    const line = `synchronous_standby_names = '${wanted ? '*' : ''}'\n`;
    appendFileSync(join(this.#data, 'postgresql.auto.conf'), line); // the last line of a name counts
  }

  /** Starts it, as a primary or a standby, and answers when it takes connections. */
  async start(settings: string[] = []): Promise<void> {
    const options = ['listen_addresses=127.0.0.1', `unix_socket_directories=${this.#folder}`, ...settings];
    const args = ['-D', this.#data, '-p', String(this.port), ...options.flatMap((one) => ['-c', one])];
    this.log = [];
    this.#process = spawn(join(BINARIES!, 'postgres'), args, {
      ...account,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    createInterface({ input: this.#process.stderr! }).on('line', (line) => this.log.push(line));
    await this.#eventually('select 1', () => true);
  }

  /** As a power cut does: the server and everything it has started are gone at once. */
  async kill(): Promise<void> {
    const { pid } = this.#process!;
    const children = globSync('/proc/[0-9]*/stat').flatMap((file) => {
      try {
        const [, child, parent] = /^(\d+) \(.*\) \w (\d+) /.exec(readFileSync(file, 'utf8')) ?? [];
        return Number(parent) === pid ? [Number(child)] : [];
      } catch {
        return []; // gone as we looked
      }
    });
    const exited = once(this.#process!, 'exit');
    for (const one of [pid!, ...children]) {
      try {
        process.kill(one, 'SIGKILL');
      } catch {
        // It went with its parent.
      }
    }
    await exited;
    this.#process = undefined;
  }

  /** Makes a primary of a standby. */
  async promote(): Promise<void> {
    await run('pg_ctl', ['promote', '--no-wait', `--pgdata=${this.#data}`]);
  }

  /** Waits until a promotion is done. */
  async untilPrimary(): Promise<void> {
    await this.#eventually('select pg_is_in_recovery() as recovering', ([row]) => row?.recovering === false);
  }

  /** Lets commits wait for the standby that follows, from now on. */
  async requireStandby(): Promise<void> {
    await this.query("alter system set synchronous_standby_names = '*'");
    await this.query('select pg_reload_conf()');
    await this.#eventually(
      `select count(*)::int as standbys from pg_stat_replication where sync_state = 'sync'`,
      ([row]) => row?.standbys === 1,
    );
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of a row
  async query(sql: string): Promise<any[]> {
    const client = new pg.Client(this.url);
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async #eventually(sql: string, holds: (rows: any[]) => boolean): Promise<void> {
    await eventually(
      () => this.query(sql).then(holds, () => false),
      () => `not in time: ${sql}\n${this.log.join('\n')}`,
    );
  }

  /** Ends it and takes all of it away. */
  async remove(): Promise<void> {
    if (this.#process) await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A primary and the standby that its commits wait for. */
export async function startPair(): Promise<[PostgresHost, PostgresHost]> {
  const [one, other] = (await freePorts(2)).map((port) => new PostgresHost(port)) as [
    PostgresHost,
    PostgresHost,
  ];
  await one.initialise();
  await one.start();
  await other.follow(one);
  await one.requireStandby();
  return [one, other];
}
