// Writes the Debian package: the program and its Node, the units of deploy/, a manual page and completion. The same commit gives the same bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import packageJson from '../package.json' with { type: 'json' };
import { completionText, manualPage } from './command-pages.ts';
import { ROOT, writeProgram } from './program-folder.ts';

const PROGRAM = 'usr/lib/counterfoil';
const ARCHITECTURES: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** What Node's binary is linked with, and what the maintainer scripts and `deploy/counterfoil` run. */
const DEPENDS = 'libc6 (>= 2.28), libstdc++6, libgcc-s1, libatomic1, passwd, util-linux';
const UNITS = /^deploy\/counterfoil.*\.(service|timer)$/;

interface DebianPackage {
  /** The time that its files have, in seconds since 1970. */
  seconds: number;
  /** Who makes it: `Name <address>`. */
  maintainer: string;
  version?: string;
}

/** Writes `counterfoil_VERSION_ARCHITECTURE.deb` into `folder`. Returns its path. Throws on other systems than Linux. */
export async function writeDebianPackage(
  folder: string,
  { seconds, maintainer, version = packageJson.version }: DebianPackage,
): Promise<string> {
  const architecture = ARCHITECTURES[process.arch];
  if (process.platform !== 'linux' || !architecture)
    throw new Error('A Debian package is made on Linux, x86-64 or ARM.');
  const root = mkdtempSync(join(tmpdir(), 'counterfoil-debian-'));
  try {
    writeFiles(root);
    await writePages(root, new Date(seconds * 1000));
    writeControl(root, { version, architecture, maintainer });
    normaliseModes(root);
    const file = join(folder, `counterfoil_${version}_${architecture}.deb`);
    const options = ['--root-owner-group', '-Zzstd', '-z3', '--threads-max=1', '--build'];
    execFileSync('dpkg-deb', [...options, root, file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return file;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function put(root: string, path: string, content: string | Buffer, mode = 0o644): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  chmodSync(join(root, path), mode);
}

function writeFiles(root: string): void {
  writeProgram(join(root, PROGRAM));
  const node = dirname(
    createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/package.json`),
  );
  mkdirSync(join(root, PROGRAM, 'node_modules/.bin'));
  cpSync(join(node, 'bin/node'), join(root, PROGRAM, 'node_modules/.bin/node'));
  chmodSync(join(root, PROGRAM, 'node_modules/.bin/node'), 0o755);
  put(root, 'etc/counterfoil/counterfoil.yaml', readFileSync(join(ROOT, 'counterfoil.yaml')));
  put(root, 'usr/bin/counterfoil', ofPackage('deploy/counterfoil'), 0o755);
  const deploy = execFileSync('git', ['ls-files', 'deploy'], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');
  for (const file of deploy.filter((one) => UNITS.test(one)))
    put(root, file.replace('deploy', 'usr/lib/systemd/system'), ofPackage(file));
  for (const file of ['deploy/alerts.yml', 'deploy/nginx.conf', 'deploy/Caddyfile'])
    put(root, join(PROGRAM, file), ofPackage(file));
  const licences = ['LICENSE', 'NOTICE'].map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const nodes = `Node.js, in /${PROGRAM}/node_modules/.bin:\n\n${readFileSync(join(node, 'LICENSE'), 'utf8')}`;
  put(root, 'usr/share/doc/counterfoil/copyright', [...licences, nodes].join('\n'));
  put(root, 'usr/share/doc/counterfoil/changelog.gz', gzipSync(readFileSync(join(ROOT, 'CHANGELOG.md'))));
}

/** A file of deploy/ with the paths of this package. */
const ofPackage = (file: string) =>
  readFileSync(join(ROOT, file), 'utf8')
    .replaceAll('/opt/counterfoil', `/${PROGRAM}`)
    .replaceAll('/usr/local/bin/counterfoil', '/usr/bin/counterfoil');

async function writePages(root: string, day: Date): Promise<void> {
  put(root, 'usr/share/man/man1/counterfoil.1.gz', gzipSync(await manualPage(day)));
  put(root, 'usr/share/bash-completion/completions/counterfoil', await completionText());
}

const filesBelow = (root: string) =>
  ['etc', 'usr'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((path) => join(root, top, path)),
  );

function writeControl(
  root: string,
  { version, architecture, maintainer }: { version: string; architecture: string; maintainer: string },
): void {
  const files = filesBelow(root)
    .filter((path) => lstatSync(path).isFile())
    .sort();
  const bytes = files.reduce((sum, path) => sum + Math.ceil(lstatSync(path).size / 1024) * 1024, 0);
  const [summary, ...rest] = packageJson.description.split(' with ');
  put(
    root,
    'DEBIAN/control',
    `Package: counterfoil
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: ${DEPENDS}
Section: web
Priority: optional
Description: ${summary!.toLowerCase()}
 With ${rest.join(' with ')}
`,
  );
  put(root, 'DEBIAN/conffiles', '/etc/counterfoil/counterfoil.yaml\n');
  const sum = (path: string) => createHash('md5').update(readFileSync(path)).digest('hex');
  put(root, 'DEBIAN/md5sums', files.map((path) => `${sum(path)}  ${path.slice(root.length + 1)}\n`).join(''));
  for (const name of ['postinst', 'prerm', 'postrm'])
    put(root, `DEBIAN/${name}`, readFileSync(join(ROOT, 'deploy/debian', name)), 0o755);
}

/** Gives files and folders the modes that they have whatever the umask was. */
function normaliseModes(root: string): void {
  for (const path of [
    root,
    join(root, 'DEBIAN'),
    join(root, 'etc'),
    join(root, 'usr'),
    ...filesBelow(root),
  ]) {
    const entry = lstatSync(path);
    chmodSync(path, entry.isDirectory() || entry.mode & 0o100 ? 0o755 : 0o644);
  }
  chmodSync(join(root, 'etc/counterfoil'), 0o700);
}
