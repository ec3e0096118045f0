// Packages as others get them: packed by npm, and installed from npm into a folder of their own.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { plainEnvironment, ROOT, start } from '../support/command.ts';

const ENDS_WITHIN_MS = 300_000;
/** What npm says where no registry answers. */
const UNREACHED = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)\b/;

/** A temporary folder into which packages are installed. */
export class Installation {
  readonly folder = mkdtempSync(join(tmpdir(), 'counterfoil-published-'));
  /** Why nothing could be installed: there is no registry. */
  unreached: string | undefined;

  constructor() {
    writeFileSync(join(this.folder, 'package.json'), '{ "private": true }');
  }

  /** Installs packages, without their scripts. Where no registry answers, it says so and sets `unreached`. */
  async install(...packages: string[]): Promise<void> {
    const quick = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1'];
    const { code, said } = await this.#run(this.folder, 'npm', [
      'install',
      '--ignore-scripts',
      ...quick,
      ...packages,
    ]);
    if (code !== 0 && UNREACHED.test(said)) {
      this.unreached = `npm reached no registry: ${UNREACHED.exec(said)![0]}`;
      console.log(`Skipped: ${this.unreached}`);
    } else assert.equal(code, 0, said);
  }

  /** Packs a package of this repository as a release does. Returns the path of the file. */
  async pack(name: 'bank-statements' | 'client' | 'vendure'): Promise<string> {
    const build = join(this.folder, 'build');
    const place = join(build, 'packages', name);
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    cpSync(join(ROOT, 'tsconfig.json'), join(build, 'tsconfig.json'));
    const isSource = (path: string) => !/\/(dist|node_modules|test)(\/|$)/.test(path.slice(ROOT.length));
    cpSync(join(ROOT, 'packages', name), place, { recursive: true, filter: isSource });
    // What it is built with: the peers of the plugin are installed here alone.
    const modules = name === 'vendure' ? this.folder : ROOT;
    symlinkSync(join(modules, 'node_modules'), join(place, 'node_modules'));
    const { code, said } = await this.#run(place, 'npm', ['pack', '--pack-destination', this.folder]);
    assert.equal(code, 0, said);
    const files = readdirSync(this.folder);
    return join(this.folder, files.find((file) => file.startsWith(`counterfoil-${name}-`))!);
  }

  /** Runs a command that was installed. */
  run(command: string, ...args: string[]): Promise<{ code: number | null; said: string }> {
    return this.#run(this.folder, join(this.folder, 'node_modules/.bin', command), args);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #run(cwd: string, program: string, args: readonly string[]) {
    // The machine's own Node first: npm reads its settings beside the Node that runs it.
    const paths = process.env.PATH!.split(delimiter).filter((one) => !one.startsWith(ROOT));
    const authorities = process.env.NODE_EXTRA_CA_CERTS;
    const environment = plainEnvironment({
      PATH: [...paths, join(ROOT, 'node_modules/.bin')].join(delimiter),
      ...(authorities && { NODE_EXTRA_CA_CERTS: authorities }),
    });
    const running = start(program, args, { cwd, environment, endWithinMs: ENDS_WITHIN_MS });
    running.child.stdin!.end();
    const { code } = await running.ended;
    return { code, said: running.stdout + running.stderr };
  }
}

/** Asserts that publint and Are The Types Wrong find nothing in packed packages. */
export async function assertClean(...files: string[]): Promise<void> {
  const tools = new Installation(); // apart, because they bring a TypeScript of their own
  try {
    await tools.install('publint', '@arethetypeswrong/cli');
    for (const file of files)
      for (const [command, ...args] of [
        ['publint', 'run', file, '--strict'],
        ['attw', file, '--no-color', '--no-emoji'],
      ] as const) {
        const { code, said } = await tools.run(command, ...args);
        assert.equal(code, 0, `${command}: ${said}`);
      }
  } finally {
    tools.remove();
  }
}
