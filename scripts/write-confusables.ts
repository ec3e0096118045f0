// Writes src/merchants/confusables.json: the characters of Unicode that look like others, by what they look like.
//
// Source: confusables.txt of Unicode Technical Standard #39, version 13.0.0, (https://www.unicode.org/Public/security/, Unicode License),
// as the npm package unhomoglyph 1.0.6 (MIT) carries it. Run: npm pack unhomoglyph@1.0.6, unpack it, and name its file data.json.
import { readFileSync, writeFileSync } from 'node:fs';

/** What a look keeps of a name: letters, digits, marks, signs. */
const KEPT = /^[\p{L}\p{N}\p{M}\p{S}]$/u;

const [file] = process.argv.slice(2);
if (!file) throw new Error('Name the file with the confusables, a JSON object.');
const prototypes = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
const lookalikes: Record<string, string> = {};
for (const [character, prototype] of Object.entries(prototypes)) {
  if (!KEPT.test(character) || character === prototype) continue;
  if (character.normalize('NFKC').normalize('NFD') !== character) continue; // a look has none of these
  lookalikes[prototype] = (lookalikes[prototype] ?? '') + character;
}
writeFileSync(
  new URL('../src/merchants/confusables.json', import.meta.url),
  `${JSON.stringify(lookalikes, null, 2)}\n`,
);
console.log(`${Object.values(lookalikes).reduce((sum, all) => sum + [...all].length, 0)} characters`);
