// Writes the bill of materials of production to standard output, as CycloneDX JSON: what npm says of the lock file, without tools.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Bom {
  metadata: { component: { name: string; type: string; 'bom-ref': string } };
  components: { 'bom-ref': string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}
interface LockFile {
  name: string;
  packages: Record<string, { version: string; dev?: boolean; optional?: boolean }>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const npm = process.env.npm_execpath;
const [command, ...prefix] = npm ? [process.execPath, npm] : ['npm'];
const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=error'];
const bom: Bom = JSON.parse(
  execFileSync(command!, [...prefix, ...args], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }),
);

// Not npm's --omit=dev: it also leaves out the packages of production that a tool depends on.
const lockFile: LockFile = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const production = new Set(
  Object.entries(lockFile.packages)
    .filter(([path, { dev, optional }]) => path !== '' && !dev && !optional)
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`),
);
const own = bom.metadata.component;
own.name = lockFile.name; // npm takes the name of the folder
own.type = 'application';
bom.components = bom.components.filter((one) => production.has(one['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => ref === own['bom-ref'] || production.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => production.has(one)) }));
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
