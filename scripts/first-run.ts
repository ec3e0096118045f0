// Times the first run: clones what is committed, starts it with one command, and does what its screens say, a minute for each half.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChromium } from '../test/support/chromium.ts';
import { hasTerminal, plainText, ROOT, startOnTerminal } from '../test/support/command.ts';
import { reviewFirstPayment, sellAsMerchant } from '../test/support/newcomer.ts';

/** From the clone to a verified webhook without the installation; then, to a payment of the newcomer's own shop. */
const HALF_WITHIN_MS = 60_000;
const INSTALL_WITHIN_MS = 300_000;
const READY = /Ctrl-C stops it/;
const CTRL_C = '\x03';

const say = (text: string) => process.stdout.write(`${text}\n`);
const seconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(6)} s`;

if (!hasTerminal) throw new Error('A terminal is needed: the `script` of util-linux.');
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-first-run-'));
const clone = join(folder, 'counterfoil');
try {
  await firstRun();
} catch (error) {
  say(`\nfailed: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Throws the step that failed, or the half that took too long. */
async function firstRun(): Promise<void> {
  const cloning = performance.now();
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  const commit = execFileSync('git', ['log', '-1', '--format=%h %s'], { cwd: clone, encoding: 'utf8' });
  say(`A fresh clone of ${commit.trim()}; Chromium is this repository's, its scripts off.\n`);
  const environment = environmentOfNobody();
  const began = performance.now();
  const server = startOnTerminal('npm start', {
    cwd: clone,
    environment,
    endWithinMs: INSTALL_WITHIN_MS + 2 * HALF_WITHIN_MS,
  });
  const browser = await startChromium();
  try {
    await server.until(READY);
    const [, ready] = /ready in (\d+\.\d) s/.exec(plainText(server.stdout))!;
    const started = performance.now() - began;
    const installation = started - Number(ready) * 1000;
    say(`${seconds(started)}  npm start, dependencies and all; the server: ready in ${ready} s`);
    const newcomer = {
      browser,
      shell: environment,
      told: ({ name, ms }: { name: string; ms: number }) => say(`${seconds(ms)}  ${name}`),
    };
    const counts = cloning + installation;
    await half('a verified webhook, from the clone on, without the installation', counts, () =>
      reviewFirstPayment(newcomer, server.stdout),
    );
    await half('a shop of their own is paid', performance.now(), () =>
      sellAsMerchant(newcomer, server.stdout),
    );
  } finally {
    await browser.close();
    if (server.child.exitCode === null) server.child.stdin!.write(CTRL_C);
    await server.ended;
  }
}

/** What the environment of somebody holds who has set nothing. */
function environmentOfNobody(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH: outside(PATH!), HOME };
}

/** The PATH without what `npm run` put before it, so that the clone runs on nothing but its own. */
function outside(path: string): string {
  return path
    .split(':')
    .filter((entry) => !/node_modules|node-gyp-bin/.test(entry))
    .join(':');
}

/** Throws where it is not done a minute after `begun`. */
async function half(name: string, begun: number, work: () => Promise<void>): Promise<void> {
  await work();
  const ms = performance.now() - begun;
  say(`${seconds(ms)}  in all, until ${name}\n`);
  if (ms > HALF_WITHIN_MS) throw new Error(`It took longer than ${HALF_WITHIN_MS / 1000} s until ${name}.`);
}
