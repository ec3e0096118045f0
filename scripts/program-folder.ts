// Writes the program as packages carry it: JavaScript without types, and of the dependencies the files that Node runs.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Files of the repository that a package has. `packages/*` holds what src/ imports by a name of package.json's `imports`. */
const PARTS = [
  'bin',
  'src',
  'packages/bank-statements/src',
  'counterfoil.yaml',
  'docs',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'NOTICE',
];
const LEFT_OUT = /^docs\/.*\.png$/;
/** Files of dependencies that no program reads. Licences are kept by their name. */
const UNREAD = /\.(ts|cts|mts|map|md|markdown|ya?ml|html|txt|gif)$/i;
const UNREAD_FOLDER = /^(\..*|tests?|__tests__|examples?|bench(marks?)?|docs)$/;
const LICENCE = /^(licen[cs]e|notice|copying|ofl)/i;

/** A path in the text of a module: `'./x.ts'`. */
const PATH = /(['"])(\.{1,2}\/[^'"\n]*)\.ts\1/g;

interface Locked {
  version: string;
  dev?: boolean;
  optional?: boolean;
  link?: boolean;
}
interface PackageJson {
  dependencies: Record<string, string>;
  [field: string]: unknown;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;

/** Paths of the packages that production runs, nested ones too: `node_modules/zod`. */
export function productionPackages(): string[] {
  const { packages } = readJson<{ packages: Record<string, Locked> }>('package-lock.json');
  return Object.entries(packages)
    .filter(([path, { dev, optional, link }]) => path.includes('node_modules/') && !dev && !optional && !link)
    .map(([path]) => path);
}

/** Writes the program with its dependencies into `folder`, which it makes. Commits decide which files there are. */
export function writeProgram(folder: string): void {
  const files = execFileSync('git', ['ls-files', ...PARTS], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');
  for (const file of files.filter((one) => !LEFT_OUT.test(one))) write(folder, file);
  for (const path of productionPackages()) copyDependency(path, folder);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

/** Copies a file of the repository. A module loses its types, and finds others by the names that they have now. */
function write(folder: string, file: string): void {
  const isTyped = extname(file) === '.ts';
  const target = join(folder, isTyped ? file.replace(/ts$/, 'js') : file);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(ROOT, file), target); // with its mode
  if (!isTyped && extname(file) !== '.js') return;
  const text = readFileSync(join(ROOT, file), 'utf8');
  writeFileSync(target, (isTyped ? withoutTypes(text) : text).replace(PATH, '$1$2.js$1'));
}

const isUnread = (name: string) => name.startsWith('.') || (UNREAD.test(name) && !LICENCE.test(name));

/** The text of a module with blanks in the place of types, so that lines and columns of errors are those of the sources. */
function withoutTypes(text: string): string {
  const lines = text.split('\n');
  return stripTypeScriptTypes(text)
    .split('\n')
    .map((line, index) => (line === lines[index] ? line : line.trimEnd()))
    .join('\n');
}

/** Copies a dependency without unread files, and without its own node_modules, whose packages are copied by themselves. */
function copyDependency(path: string, folder: string): void {
  for (const entry of readdirSync(join(ROOT, path), { withFileTypes: true })) {
    const inside = `${path}/${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules' && !UNREAD_FOLDER.test(entry.name)) copyDependency(inside, folder);
    } else if (!isUnread(entry.name)) {
      mkdirSync(join(folder, path), { recursive: true });
      cpSync(join(ROOT, inside), join(folder, inside));
    }
  }
}

/** package.json of the package: dependencies by the versions of the lock file, and in the package. */
function manifest(): Record<string, unknown> {
  const { name, version, description, license, type, engines, bin, imports, ...rest } =
    readJson<PackageJson>('package.json');
  const readers = readJson<PackageJson>('packages/bank-statements/package.json');
  const named = Object.keys({ ...rest.dependencies, ...readers.dependencies }).sort();
  const versionOf = (one: string) => readJson<Locked>(`node_modules/${one}/package.json`).version;
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin,
    imports: JSON.parse(JSON.stringify(imports).replaceAll('.ts"', '.js"')),
    exports: { './package.json': './package.json' },
    dependencies: Object.fromEntries(named.map((one) => [one, versionOf(one)])),
    bundleDependencies: named,
    optionalDependencies: rest.optionalDependencies,
  };
}
