// A file system of a size of its own, a balloon that fills it to the last byte, and its end whatever happens.
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type DiskKind = 'tmpfs' | 'ext4';

export interface SmallDisk {
  /** Where it is mounted: a directory of mode 0700. */
  directory: string;
  /** Takes all the room there is. */
  fill(): void;
  /** Gives so many bytes of it back. */
  give(bytes: number): void;
  /** Gives all of it back. */
  free(): void;
  /** Unmounts it and removes what it lay in. */
  remove(): void;
}

/** From large pieces to single bytes: nothing is left that a piece would fit into. */
const PIECES = [1024 * 1024, 4096, 1];

/** Why such a file system cannot be had here; undefined where it can. */
export function whyNoSmallDisk(kind: DiskKind): string | undefined {
  if (process.geteuid?.() !== 0) return 'mounting a small file system needs root';
  try {
    mountSmallDisk(kind, 8).remove();
    return undefined;
  } catch (error) {
    return `no ${kind} can be mounted here: ${(error as Error).message.split('\n')[0]}`;
  }
}

/** Why a test need not, or cannot, be run as the root of a namespace of its own; undefined where it is to be. */
export function whyNoNamespace(): string | undefined {
  if (process.geteuid?.() === 0) return 'root needs none';
  const { status } = spawnSync('unshare', ['-rm', 'true'], { stdio: 'ignore' });
  return status === 0 ? undefined : 'this system gives its users no namespaces (unshare -rm)';
}

/** Mounts one of `mib` MiB, of which ext4 keeps a part for root. Throws what `mount` says. */
export function mountSmallDisk(kind: DiskKind, mib: number, rootsPercent = 0): SmallDisk {
  const parent = mkdtempSync(join(tmpdir(), 'counterfoil-disk-'));
  const directory = join(parent, 'disk');
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    run('mkdir', '-m', '0700', directory);
    if (kind === 'tmpfs') {
      run('mount', '-t', 'tmpfs', '-o', `size=${mib}m,mode=0700`, 'counterfoil', directory);
    } else {
      const image = join(parent, 'image');
      run('truncate', '-s', `${mib}M`, image);
      // Blocks of 4096 bytes, as mkfs makes them from 512 MiB on: doctor warns of smaller ones.
      run('mkfs.ext4', '-q', '-b', '4096', '-m', String(rootsPercent), image);
      run('mount', '-o', 'loop', image, directory);
      run('chmod', '0700', directory);
      rmSync(join(directory, 'lost+found'), { recursive: true });
    }
  } catch (error) {
    rmSync(parent, { recursive: true, force: true });
    throw error;
  }
  const balloon = join(directory, 'balloon');
  return {
    directory,
    fill() {
      const descriptor = openSync(balloon, 'a', 0o600);
      for (const size of PIECES) {
        const piece = Buffer.alloc(size, 1);
        try {
          for (;;) writeSync(descriptor, piece);
        } catch (error) {
          if ((error as { code?: string }).code !== 'ENOSPC') throw error;
        }
      }
      closeSync(descriptor);
    },
    give: (bytes) => truncateSync(balloon, statSync(balloon).size - bytes),
    free: () => rmSync(balloon, { force: true }),
    remove() {
      // Lazily: a process that was killed a moment ago may still hold a file.
      run('umount', '--lazy', directory);
      rmSync(parent, { recursive: true, force: true });
    },
  };
}
