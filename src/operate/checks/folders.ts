// What is known of a folder from outside it: whether web servers hand it out, and on what kind of file system it lies.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';

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

/** Where a path really lies, of its nearest part that is there. */
export function existing(path: string): string {
  const nearest = ways(resolve(path)).find((one) => existsSync(one)) ?? sep;
  const rest = resolve(path).slice(nearest === sep ? 0 : nearest.length);
  return join(realpathSync(nearest), rest);
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
