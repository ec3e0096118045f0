// The first minutes with Counterfoil, as `npm run first-run` times them in a fresh clone: here with the working tree's server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startChromium } from './support/chromium.ts';
import {
  COMMAND,
  type Folder,
  hasTerminal,
  plainEnvironment,
  ROOT,
  type Running,
  startOnTerminal,
  temporaryFolder,
} from './support/command.ts';
import { type Newcomer, reviewFirstPayment, type Step, sellAsMerchant } from './support/newcomer.ts';

const CTRL_C = '\x03';

describe('a newcomer', { skip: !hasTerminal && 'this machine has no util-linux script' }, () => {
  let folder: Folder;
  let server: Running;
  let browser: Browser;
  let newcomer: Newcomer;
  const steps: Step[] = [];
  before(async () => {
    // What a fresh clone has.
    folder = temporaryFolder(readFileSync(join(ROOT, 'counterfoil.yaml'), 'utf8'));
    const line = `'${process.execPath}' '${COMMAND}' serve`;
    server = startOnTerminal(line, { cwd: folder.path, env: { PORT: '0' } });
    browser = await startChromium();
    newcomer = { browser, shell: plainEnvironment(), told: (step) => void steps.push(step) };
    await server.until(/Ctrl-C stops it/);
  });
  after(async () => {
    await browser.close();
    server.child.stdin!.write(CTRL_C);
    await server.ended;
    folder.remove();
  });

  test('pays, sets up an account and approves by what the screens say alone.', async () => {
    await reviewFirstPayment(newcomer, server.stdout);
  });

  test('registers a business and sells with the command that its page shows.', async () => {
    await sellAsMerchant(newcomer, server.stdout);
    assert.equal(steps.length, 14);
  });
});
