// The PostgreSQL that the machine's packages installed, with the tools that dump and restore: those of the tests come without.
import { execFileSync } from 'node:child_process';
import { chownSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-ports.ts';

/** Where its programs are; undefined where it is not installed. */
export const debianPostgres = globSync('/usr/lib/postgresql/*/bin/initdb')
  .sort()
  .at(-1)
  ?.replace(/\/initdb$/, '');

/** Written into connection strings as it is, which node-postgres takes. */
export const PASSWORD = 'not:known@to%anybody';

export interface DebianPostgres {
  /** Of a database of its own, with the password that an operator chose. */
  createDatabase(name: string): Promise<string>;
  stop(): void;
}

/** Starts a cluster on a free loopback port, as the account `postgres` where this one is root. In production `fsync` must be on. */
export async function startDebianPostgres(fsync: 'on' | 'off' = 'off'): Promise<DebianPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-debian-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const port = await freePort();
  const account = isRoot
    ? Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }))
    : userInfo().uid;
  const run = (program: string, ...args: string[]) => {
    const [command, ...rest] = [
      ...(isRoot ? ['/usr/sbin/runuser', '-u', 'postgres', '--'] : []),
      join(debianPostgres!, program),
    ];
    execFileSync(command!, [...rest, ...args], { stdio: 'ignore', cwd: folder });
  };
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${PASSWORD}\n`, { mode: 0o600 });
  for (const path of [folder, passwordFile]) chownSync(path, account, -1);
  run(
    'initdb',
    `--pgdata=${data}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  );
  const flags = `-c port=${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=${fsync}`;
  run('pg_ctl', `--pgdata=${data}`, '--wait', `--log=${join(folder, 'log')}`, `--options=${flags}`, 'start');
  const url = (name: string) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${name}`;
  return {
    async createDatabase(name) {
      const client = new pg.Client(url('postgres'));
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      return url(name);
    },
    stop() {
      run('pg_ctl', `--pgdata=${data}`, '--wait', '--mode=immediate', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
