#!/usr/bin/env node
// The `counterfoil` command: runs under the Node of package-lock.json when the machine's own is too old.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

if (Number(process.versions.node.split('.')[0]) >= 26) {
  const { enableCompileCache, flushCompileCache, registerHooks } = await import('node:module'); // no older Node has them all
  // zod loads its messages in 63 languages, 1 to 3 MB of a short command. Only English ones are used, and it imports those by themselves.
  registerHooks({
    resolve(specifier, context, next) {
      const isLanguages = specifier === '../locales/index.js' && context.parentURL.includes('/zod/');
      return isLanguages ? { url: 'data:text/javascript,', shortCircuit: true } : next(specifier, context);
    },
  });
  // Keeps what the types were stripped from, beside the dependencies where nobody else can write: a third less to start.
  const cache = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));
  enableCompileCache(cache);
  process.env.NODE_COMPILE_CACHE ??= cache; // for the threads that read statements, which begin without it
  const { run } = await import('../src/operate/commands/counterfoil.ts');
  await run(process.argv);
  flushCompileCache(); // a server may never get to its orderly end
} else {
  const bundled = nodeOfLockFile();
  const isClone = existsSync(new URL('../scripts/install.js', import.meta.url));
  const install = isClone ? 'node scripts/install.js' : 'npm install --include=optional';
  if (!bundled) {
    console.error(
      `counterfoil: Node 26 is needed, this is ${process.versions.node}. Run: ${install} (or install Node 26)`,
    );
    process.exit(1);
  }
  const child = spawn(bundled, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`counterfoil: ${bundled} cannot be run (${error.code}). Run: ${install}`);
    process.exit(1);
  });
  // A shell's way to say that a signal ended it: 128 and the signal's number.
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

/** The Node among the dependencies, wherever npm has put it. */
function nodeOfLockFile() {
  const { resolve } = createRequire(import.meta.url);
  for (const name of ['node', 'node-bin'])
    try {
      return resolve(`${name}-${process.platform}-${process.arch}/bin/node`);
    } catch {}
}
