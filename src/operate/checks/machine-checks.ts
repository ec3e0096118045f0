// Checks of the machine: files and folders, what they lie on, how much room is left; and the serving process.
import { existsSync, readFileSync, realpathSync, type Stats, statfsSync, statSync } from 'node:fs';
import { url as debuggerUrl } from 'node:inspector';
import { dirname, join, resolve, sep } from 'node:path';
import { descriptorLimit } from '../../lib/descriptors.ts';
import { exposedIn } from '../../store/open.ts';
import { check, checkTable, failed, ok, skipped, type Verdict, warning } from './check.ts';

const MIB = 1024 * 1024;
/** Of the index of SQLite's write-ahead log. */
const SQLITE_PAGE_BYTES = 4096;
/** With less, a day's write-ahead log may not find room. */
const FREE_MINIMUM_BYTES = 512 * MIB;
const FREE_WARNED_PART = 0.05;

/** File systems in memory. */
const IN_MEMORY = /^(tmpfs|ramfs|devtmpfs|hugetlbfs)$/;
/** File systems whose locks and flushes are another machine's word (https://sqlite.org/howtocorrupt.html, 2.1). */
const OVER_NETWORK = /^(nfs4?|cifs|smb3?|smbfs|9p|afs|ceph|lustre|glusterfs|beegfs)$/;
const OVER_NETWORK_BY_FUSE = /^fuse\.(sshfs|glusterfs|ceph|s3fs|rclone|gcsfuse|goofys|davfs2?|curlftpfs)$/;
/** The layer of a container, which goes when it does. */
const OF_CONTAINER = /^(overlay|aufs)$/;

/** Permissions mean nothing there. */
const isWindows = process.platform === 'win32';
const octal = ({ mode }: Stats) => (mode & 0o777).toString(8).padStart(4, '0');

/** In the order in which a start asks them. */
export const MACHINE_CHECKS = checkTable({
  root: check('System user', 'start', ({ settings: { allow_root, written } }) => {
    const uid = process.getuid?.();
    if (uid === undefined) return skipped('This system has no root');
    if (uid !== 0) return ok('It does not run as root');
    if (allow_root) return ok('It runs as root, which allow_root allows');
    return failed(
      'The service runs as root. It does not need root',
      'start it as an account of its own, or set allow_root: true',
      written.place(['allow_root']),
    );
  }),
  node_options: check("Node's options", 'start', ({ env }) => {
    const given: [where: string, options: readonly string[]][] = [
      ['NODE_OPTIONS', (env.NODE_OPTIONS ?? '').split(/[\s"]+/)],
      ['The command line of node', process.execArgv],
    ];
    for (const [where, options] of given) {
      // Node takes underscores for hyphens.
      const unsafe = options.find((one) => UNSAFE_OPTION.test(one.replaceAll('_', '-')));
      if (unsafe)
        return failed(
          `${unsafe.split('=')[0]} lets others look into the service or past its checks`,
          'start it without',
          where,
        );
    }
    // Opened from within, or by SIGUSR1.
    if (debuggerUrl() !== undefined)
      return failed(
        'A debugger listens, and lets others look into the service or past its checks',
        'start it without, and see who opened it',
        'Node',
      );
    return ok('Node runs without a debugger and with strict parsing');
  }),
  node_tls: check('Certificates of others', 'start', ({ env }) => {
    if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return ok('Certificates of other servers are checked');
    return failed(
      'Certificates of other servers would not be checked',
      'remove the variable; name a private issuer with NODE_EXTRA_CA_CERTS',
      'NODE_TLS_REJECT_UNAUTHORIZED=0',
    );
  }),
  descriptors: check('Open files', 'start', () => {
    const limit = descriptorLimit();
    if (limit === undefined) return skipped('This system does not say how many files may be open');
    if (limit >= DESCRIPTORS_MINIMUM)
      return ok(`${limit.toLocaleString('en')} files and connections may be open`);
    return failed(
      `Only ${limit} files and connections may be open at once, and ${DESCRIPTORS_MINIMUM} are needed`,
      `raise the limit: ulimit -n ${DESCRIPTORS_MINIMUM}, or LimitNOFILE in systemd`,
      'ulimit -n',
    );
  }),
  configuration_private: check('Configuration file', ['start', 'atReload'], ({ settings: { file } }) => {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found || isWindows) return skipped('There are no permissions to look at');
    if ((found.mode & 0o077) !== 0)
      return failed(`The file may be used by others (mode ${octal(found)})`, `run chmod 600 ${file}`, file);
    const folder = dirname(file);
    const around = statSync(folder);
    // With the sticky bit (/tmp), an account cannot replace another account's file.
    if ((around.mode & 0o022) !== 0 && (around.mode & 0o1000) === 0) {
      const judge = (around.mode & 0o002) !== 0 ? failed : warning;
      return judge(
        `Others may put another file in its place (mode ${octal(around)})`,
        `run chmod go-w ${folder}`,
        folder,
      );
    }
    return ok('Its owner alone may read the configuration file');
  }),
  storage_private: check('Storage', ['start', 'always'], ({ settings: { storage } }) => {
    if (!statSync(storage, { throwIfNoEntry: false })) return skipped('The storage folder is not made yet');
    const exposed = exposedIn(storage);
    if (exposed === undefined) return ok('Its owner alone may read the storage folder and what is in it');
    return failed('It can be read by others', `run chmod -R go= ${storage}`, exposed);
  }),
  served_folder: check('Served folders', 'start', ({ settings: { file, storage, tls, backups } }) => {
    const places: [what: string, path: string, folder: string, elsewhere: string][] = [
      ['The storage folder', storage, storage, '/var/lib/counterfoil'],
      ['The configuration', file, dirname(file), '/etc/counterfoil'],
    ];
    if (tls) places.push(['The key of the certificate', tls.key, dirname(tls.key), '/etc/counterfoil/tls']);
    if (backups !== null)
      places.push(['The folder of backups', backups, backups, '/var/backups/counterfoil']);
    for (const [what, path, folder, elsewhere] of places) {
      const sign = servedSign(folder);
      if (sign !== undefined)
        return failed(
          `${what} lies where web servers hand out files (${sign})`,
          `move it to where none does, such as ${elsewhere}`,
          path,
        );
    }
    return ok('What is private lies in no folder that web servers hand out');
  }),
  file_system: check('File system', 'start', ({ settings: { storage, database_url } }) => {
    const type = fileSystemOf(storage);
    return fileSystemVerdict(type, storage, database_url === null);
  }),
  disk_space: check(
    'Room on the disk',
    ['start', 'firstStart'],
    ({ settings: { storage, database_url } }) => {
      const { bavail, blocks, bsize } = statfsSync(nearest(storage));
      const space = spaceVerdict(bavail * bsize, blocks * bsize, storage);
      return (database_url === null && space.is === 'ok' && blockVerdict(bsize, storage)) || space;
    },
  ),
});

/** What is to be said of storage on a file system of `type`; `holdsStore` where the database lies there. */
export function fileSystemVerdict(type: string | undefined, storage: string, holdsStore: boolean): Verdict {
  const elsewhere = 'choose a folder on a disk of this machine';
  if (type === undefined) return skipped('This system does not say what storage lies on');
  if (IN_MEMORY.test(type))
    return failed(`Storage lies in memory (${type}) and would be gone at the next start`, elsewhere, storage);
  if ((OVER_NETWORK.test(type) || OVER_NETWORK_BY_FUSE.test(type)) && holdsStore)
    return failed(
      `Storage lies on a network file system (${type}), where SQLite can lose what it committed`,
      `${elsewhere}, or set database_url to a PostgreSQL`,
      storage,
    );
  if (OF_CONTAINER.test(type))
    return warning(
      `Storage lies in the layer of a container (${type}), which goes when the container does`,
      'mount a volume there',
      storage,
    );
  return ok(`Storage lies on ${type}`);
}

/**
 * What is to be said of blocks of so many bytes; undefined where nothing is. SQLite maps the index of its write-ahead log into memory, and
 * allocates one byte of each 4 KiB. With smaller blocks the rest are holes: on a full disk, writing into one ends the process (SIGBUS).
 */
export function blockVerdict(bytes: number, storage: string): Verdict | undefined {
  if (bytes >= SQLITE_PAGE_BYTES) return undefined;
  return warning(
    `Storage lies on blocks of ${bytes} bytes, on which a full disk ends a server with SQLite at once`,
    `make the file system anew with blocks of ${SQLITE_PAGE_BYTES} bytes (mkfs.ext4 -b ${SQLITE_PAGE_BYTES}), or move storage to another`,
    storage,
  );
}

/** What is to be said of so many bytes that are free, of so many in all. */
export function spaceVerdict(free: number, all: number, storage: string): Verdict {
  const fix = 'make room, or move storage to a larger disk';
  const told = `${Math.floor(free / MIB).toLocaleString('en')} MiB are free where storage lies`;
  if (free < FREE_MINIMUM_BYTES)
    return failed(`Only ${told}, and ${FREE_MINIMUM_BYTES / MIB} are needed`, fix, storage);
  if (free < FREE_WARNED_PART * all)
    return warning(`${told}, less than ${FREE_WARNED_PART * 100} % of the disk`, fix, storage);
  return ok(told);
}

/** Names of folders that web servers are pointed at. */
const SERVED_NAMES = new Set([
  'public',
  'public_html',
  'htdocs',
  'httpdocs',
  'html',
  'www',
  'wwwroot',
  'webroot',
  'inetpub',
]);
const SERVED_FOLDERS = ['/srv/http', '/usr/share/nginx', '/Library/WebServer'];
/** Files that are put only into a folder that is meant to be served. */
const SERVED_SIGNS = ['index.html', 'index.htm', 'index.php', '.htaccess'];
const WRITABLE_BY_ANYBODY = 0o002;

/** Why web servers probably hand out what lies in `folder`, as a clause; undefined where nothing says so. */
export function servedSign(folder: string): string | undefined {
  for (const path of new Set([resolve(folder), existing(folder)])) {
    const name = path.split(sep).find((one) => SERVED_NAMES.has(one.toLowerCase()));
    if (name) return `a folder on its way is called ${name}`;
    const known = SERVED_FOLDERS.find((one) => path === one || path.startsWith(`${one}/`));
    if (known) return `it is in ${known}`;
    for (const above of ways(path)) {
      const sign = SERVED_SIGNS.find((one) => existsSync(join(above, one)));
      // In a folder that every account may write to, a file proves nothing; and no account may stop a service by putting one there.
      if (sign && !isWritableByAnybody(above)) return `${join(above, sign)} is there`;
    }
  }
  return undefined;
}

function isWritableByAnybody(folder: string): boolean {
  return ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & WRITABLE_BY_ANYBODY) !== 0;
}

/** A folder and all above it. */
function ways(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ways(above)];
}

/** The nearest part that is there, of a path that may not be yet. */
const nearest = (path: string): string => ways(resolve(path)).find((one) => existsSync(one)) ?? sep;

/** Where a path really lies, of its nearest part that is there. */
export function existing(path: string): string {
  const there = nearest(path);
  return join(realpathSync(there), resolve(path).slice(there === sep ? 0 : there.length));
}

/** The type of the file system that `path` lies on (`ext4`, `tmpfs`), from Linux' list of mounts; nothing elsewhere. */
export function fileSystemOf(path: string, mounts = readMounts()): string | undefined {
  let found: { on: string; type: string } | undefined;
  const place = existing(path);
  for (const line of (mounts ?? '').split('\n')) {
    const [, escaped, type] = line.split(' ');
    if (!escaped || !type) continue;
    // Spaces and the like stand there in octal (getmntent(3)).
    const on = escaped.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
    const holds = on === '/' || place === on || place.startsWith(`${on}/`);
    // Of two in one place, the later lies over the earlier.
    if (holds && on.length >= (found?.on.length ?? 0)) found = { on, type };
  }
  return found?.type;
}

function readMounts(): string | undefined {
  try {
    return readFileSync('/proc/self/mounts', 'utf8');
  } catch {
    return undefined;
  }
}

/** Options of Node that open a door: a debugger, lenient parsing, the keys of TLS sessions in a file. */
const UNSAFE_OPTION = /^--(inspect(?:-brk|-wait)?|insecure-http-parser|tls-keylog)(?:=|$)/;

const DESCRIPTORS_MINIMUM = 4096;
