// A dump of a PostgreSQL database by PostgreSQL's own tools, of the very moment that a view shows, and its way back.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import type { Reader } from './database.ts';
import { libpqEnvironment } from './libpq-environment.ts';
import { PostgresToolFailed } from './postgres-tool-failed.ts';

/** The longest part of a tool's message that is shown, in characters. */
const LONGEST_COMPLAINT = 300;

/** The tools at work. */
const working = new Set<ChildProcess>();

/**
 * Ends the tools at work, before this process ends: one that outlives it would go on, and what it restores would be there later.
 * Each has the server give up what it does for it.
 */
export function endPostgresTools(): void {
  for (const tool of working) tool.kill();
}
process.on('exit', endPostgresTools);

/** Which database, and what the tool finds in its environment. */
interface ToolTarget {
  url: string;
  environment: object;
}

/** Dumps what `view`, a snapshot of the database in question, shows into a new `file`. Throws `PostgresToolFailed`, `DatabaseError`. */
export async function dumpPostgres(target: ToolTarget, view: Reader, file: string): Promise<void> {
  // The view waits idle for as long as the dump takes.
  const [snapshot] = await view.query<{ id: string }>(
    `select pg_export_snapshot() as id, set_config('idle_in_transaction_session_timeout', '0', true) as patience`,
  );
  await runTool('pg_dump', target, ['--format=custom', `--snapshot=${snapshot!.id}`, `--file=${file}`]);
}

/** Puts a dump back into an empty database: whole, or nothing of it. Throws `PostgresToolFailed`. */
export async function restorePostgres(target: ToolTarget, file: string): Promise<void> {
  await runTool('pg_restore', target, [
    '--exit-on-error',
    '--single-transaction',
    '--no-owner',
    '--no-privileges',
    file,
  ]);
}

async function runTool(
  tool: string,
  { url, environment }: ToolTarget,
  options: readonly string[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-tls-'));
  try {
    const roots = join(folder, 'roots.pem');
    writeFileSync(roots, getCACertificates().join('\n'));
    await runIn(libpqEnvironment(url, environment, roots), tool, options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runIn(env: Record<string, string>, tool: string, options: readonly string[]): Promise<void> {
  // Every account of the machine can read a command line, so host and user stand in the environment.
  const child = spawn(tool, ['--no-password', '--dbname=postgresql://', ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env,
  });
  working.add(child);
  let complaint = '';
  child.stderr.on('data', (bytes) => {
    complaint = (complaint + bytes).slice(0, LONGEST_COMPLAINT);
  });
  try {
    const [code] = await once(child, 'close');
    if (code === 0) return;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new PostgresToolFailed(
      code === 'ENOENT'
        ? `${tool} is not installed: it comes with PostgreSQL's client programs, of the server's version or newer`
        : `${tool} cannot be run (${code})`,
    );
  } finally {
    working.delete(child);
  }
  throw new PostgresToolFailed(complaint.trim().replace(/\s*\n\s*/g, ' ') || `${tool} failed`);
}
