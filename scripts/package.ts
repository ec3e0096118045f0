// `npm run package`: writes dist/ with all that a release hands out, from what is committed: packages, bill of materials, notes, checksums.
// `--key FILE`: a secret key of minisign, or a private Ed25519 key in PEM, to sign the checksums with.
// `--maintainer 'Name <address>'`: who hands the Debian package out; otherwise who made the commit.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { writeDebianPackage } from './debian-package.ts';
import { ROOT, writeProgram } from './program-folder.ts';

const { key, maintainer } = parseArgs({
  options: { key: { type: 'string' }, maintainer: { type: 'string' } },
}).values;
const { version } = packageJson;
const DIST = join(ROOT, 'dist');
const SUMS = join(DIST, 'SHA256SUMS');

const run = (program: string, args: readonly string[], cwd = ROOT) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });

const ofCommit = (format: string) => run('git', ['log', '-1', `--format=${format}`]).trim();

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

const changed = run('git', ['status', '--porcelain']).trim();
if (changed) fail(`Only what is committed is packaged. Commit or remove these first:\n${changed}`);
rmSync(DIST, { recursive: true, force: true });
mkdirSync(DIST);

const work = mkdtempSync(join(tmpdir(), 'counterfoil-package-'));
try {
  const program = join(work, 'program');
  writeProgram(program);
  run('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', DIST], program);
} finally {
  rmSync(work, { recursive: true, force: true });
}
// Not the plugin for Vendure, whose build wants all of Vendure.
for (const workspace of packageJson.workspaces)
  run('npm', ['pack', '--workspace', workspace, '--loglevel=error', '--pack-destination', DIST]);
if (process.platform === 'linux')
  await writeDebianPackage(DIST, {
    seconds: Number(process.env.SOURCE_DATE_EPOCH ?? ofCommit('%ct')),
    maintainer: maintainer ?? ofCommit('%cn <%ce>'),
  });
writeFileSync(join(DIST, 'sbom.json'), run(process.execPath, [join(ROOT, 'scripts/sbom.ts')]));
writeFileSync(join(DIST, 'notes.md'), notes());
writeSums();
console.log(run('ls', ['-l', DIST]) + signed());

/** The part of CHANGELOG.md about this version, or about what is not released while there is none. */
function notes(): string {
  const parts = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^(?=## )/m);
  const part = parts.find((one) => one.startsWith(`## [${version}]`));
  if (!part) console.error(`CHANGELOG.md has no part for ${version}: notes.md is its unreleased part.`);
  return part ?? parts.find((one) => one.startsWith('## [Unreleased]')) ?? '';
}

/** Writes what `sha256sum --check SHA256SUMS` reads. */
function writeSums(): void {
  const lines = readdirSync(DIST)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(DIST, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(SUMS, lines.join(''));
}

/** Signs the checksums. Returns how they are verified. */
function signed(): string {
  if (!key) return 'SHA256SUMS is not signed: name a key of yours with --key.';
  const text = readFileSync(key, 'utf8');
  if (text.startsWith('untrusted comment:')) {
    const { status } = spawnSync('minisign', ['-S', '-s', key, '-m', SUMS], { stdio: 'inherit' });
    if (status !== 0) fail('minisign did not sign SHA256SUMS.');
    return `Signed. To verify: minisign -Vm SHA256SUMS -p ${basename(key)}.pub`;
  }
  writeFileSync(`${SUMS}.sig`, sign(null, readFileSync(SUMS), createPrivateKey(text)));
  return 'Signed. To verify: openssl pkeyutl -verify -pubin -inkey YOUR-KEY.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig';
}
