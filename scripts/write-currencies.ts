// Writes the currencies of src/lib/ and of packages/bank-statements/ from ISO 4217's list of current currencies, which SIX publishes: fetched, or from the file named.
import { readFileSync, writeFileSync } from 'node:fs';

/** "List One" of the ISO 4217 maintenance agency. */
const SOURCE =
  'https://www.six-group.com/dam/download/financial-information/data-center/iso-currrency/lists/list-one.xml';
const LINE_CHARACTERS = 120;

const [file] = process.argv.slice(2);
const xml = file ? readFileSync(file, 'utf8') : await (await fetch(SOURCE)).text();
const published = /<ISO_4217 Pblshd="(\d{4}-\d\d-\d\d)">/.exec(xml)?.[1];
if (!published) throw new Error(`${file ?? SOURCE} is not the list of ISO 4217.`);

/** Codes by decimals. The list has an entry for each country. Metals and test codes have "N.A." decimals: none. */
const codes = new Map<number, Set<string>>();
for (const [entry] of xml.matchAll(/<CcyNtry>.*?<\/CcyNtry>/gs)) {
  const code = /<Ccy>([A-Z]{3})<\/Ccy>/.exec(entry)?.[1];
  if (!code) continue; // a country without a currency
  const decimals = Number(/<CcyMnrUnts>(\d)<\/CcyMnrUnts>/.exec(entry)?.[1] ?? 0);
  codes.set(decimals, (codes.get(decimals) ?? new Set()).add(code));
}

/** Words on lines of at most `LINE_CHARACTERS`. */
function wrapped(words: Iterable<string>): string {
  const lines = [''];
  for (const word of words)
    if (`${lines.at(-1)} ${word}`.length > LINE_CHARACTERS) lines.push(word);
    else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
  return lines.map((line) => `    ${line}\n`).join('');
}

const groups = [...codes]
  .sort(([one], [other]) => one - other)
  .map(([decimals, found]) => `  ${decimals}: \`\n${wrapped([...found].sort())}  \`,\n`);
writeFileSync(
  new URL('../src/lib/currencies.ts', import.meta.url),
  `// The currencies of ISO 4217 by their decimals, as published on ${published}: written by scripts/write-currencies.ts.

/** Codes parted by white space, by how many decimals amounts in them have. */
export const CODES_BY_DECIMALS: Readonly<Record<number, string>> = {
${groups.join('')}};
`,
);

/** Codes of no currency: for tests, and for transactions without one. */
const NONE = ['XTS', 'XXX'];
const all = [...codes.values()].flatMap((found) => [...found]).filter((code) => !NONE.includes(code));
writeFileSync(
  new URL('../packages/bank-statements/src/currencies.ts', import.meta.url),
  `// The currencies of ISO 4217 as published on ${published}, without the codes for tests and for none: written by scripts/write-currencies.ts.

/** Codes parted by white space. */
export const CODES = \`
${wrapped(all.sort())}\`;
`,
);
