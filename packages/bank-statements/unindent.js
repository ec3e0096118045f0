// Takes the blanks before lines out of compiled modules: they are a twentieth of what a browser loads. Texts of several lines in them are
// lists, whose blanks mean nothing; those of the command are shown to people and stay.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2];
for (const name of readdirSync(folder))
  if (name.endsWith('.js') && name !== 'cli.js') {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^ +/gm, ''));
  }
