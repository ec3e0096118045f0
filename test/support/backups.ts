// Backups as operators make and restore them: the commands, on one store, and what lies in a folder told by digests.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND, type Folder, type Running, run, start, temporaryFolder } from './command.ts';
import type { Store } from './stores.ts';

export interface BackupPlace {
  /** Where backups go. */
  folder: string;
  /** A configuration. */
  config: string;
  /** Runs `counterfoil …` on the store, or on another storage. */
  command(args: readonly string[], storage?: string): ReturnType<typeof run>;
  /** The same, without waiting for its end. */
  begin(args: readonly string[], storage?: string): Running;
  /** Makes one and returns its path; fails where it could not be made. */
  backUp(...options: string[]): Promise<string>;
  /** A path that is free, for a storage to restore into. */
  freshStorage(): string;
  remove(): void;
}

/** A folder for backups of a store, and the commands, with `extra` in their environment. */
export function backupPlace(
  { storage: ours, database_url }: Pick<Store, 'storage' | 'database_url'>,
  extra: Record<string, string> = {},
): BackupPlace {
  const above = mkdtempSync(join(tmpdir(), 'counterfoil-backups-'));
  const folder = join(above, 'backups');
  const configuration: Folder = temporaryFolder();
  let storages = 0;
  const environment = (storage = ours) => ({
    COUNTERFOIL_CONFIG: configuration.config,
    COUNTERFOIL_STORAGE: storage,
    DATABASE_URL: database_url ?? '',
    ...extra,
  });
  const command: BackupPlace['command'] = (args, storage) => run(args, { env: environment(storage) });
  return {
    folder,
    config: configuration.config,
    command,
    begin: (args, storage) => start(process.execPath, [COMMAND, ...args], { env: environment(storage) }),
    async backUp(...options) {
      const { code, stdout, stderr } = await command(['backup', folder, '--json', ...options]);
      if (code !== 0) throw new Error(stdout + stderr);
      return JSON.parse(stdout).backup;
    },
    freshStorage: () => join(above, `storage-${++storages}`),
    remove() {
      rmSync(above, { recursive: true, force: true });
      configuration.remove();
    },
  };
}

/** Copies the keys of a node into another storage. No backup holds them. */
export function copyKeys(from: string, to: string): void {
  for (const name of ['checkpoint-key.pem', 'secrets.key'])
    if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name));
}

/** Every file below a folder with its mode and digest, for telling whether anything was changed. */
export function folderContents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const told = files.map((one) => {
    const path = join(one.parentPath, one.name);
    const { mode } = statSync(path);
    const content = one.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
    return [path.slice(folder.length + 1), `${(mode & 0o777).toString(8)} ${content}`];
  });
  return Object.fromEntries(told.sort());
}
