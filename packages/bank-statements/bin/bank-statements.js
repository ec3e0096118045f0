#!/usr/bin/env node
// The `bank-statements` command: runs what was compiled, or in a clone of the repository the sources.
import { existsSync } from 'node:fs';

const compiled = new URL('../dist/cli.js', import.meta.url);
const { main } = await import(
  existsSync(compiled) ? compiled.href : new URL('../src/cli.ts', import.meta.url).href
);
process.exitCode = main(process.argv.slice(2));
