// Writes the currencies of src/lib/ and of packages/bank-statements/ from Unicode CLDR: the newest `cldr-core` of the npm registry.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LINE_CHARACTERS = 120;

/** ISO 4217 lists these as currencies. CLDR counts them as out of use. */
const OF_ISO_ALONE = ['SVC', 'VED'];

/** Decimals by ISO 4217, where they are not two. CLDR has those that prices are written with, which are fewer (HUF, IDR). */
const DECIMALS = new Map(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
  }).flatMap(([decimals, codes]) => codes.split(' ').map((code) => [code, Number(decimals)])),
);

/** One use of a currency in a territory, days as YYYY-MM-DD. */
interface Use {
  _from?: string;
  _to?: string;
  /** `false` for funds, metals, units of account and test codes. */
  _tender?: 'false';
}
type Territories = Record<string, Record<string, Use>[]>;

const npm = (...words: string[]): string => execFileSync('npm', words, { encoding: 'utf8' }).trim();

/** The currencies of each territory as the package has them, all times. */
function readTerritories(version: string): Territories {
  const folder = mkdtempSync(join(tmpdir(), 'cldr-'));
  try {
    npm('pack', '--silent', '--pack-destination', folder, `cldr-core@${version}`);
    const archive = join(folder, `cldr-core-${version}.tgz`);
    const file = 'package/supplemental/currencyData.json';
    execFileSync('tar', ['-xzf', archive, '-C', folder, file]);
    return JSON.parse(readFileSync(join(folder, file), 'utf8')).supplemental.currencyData.region;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Words on lines of at most `LINE_CHARACTERS`. */
function wrapped(words: Iterable<string>): string {
  const lines = [''];
  for (const word of words)
    if (`${lines.at(-1)} ${word}`.length > LINE_CHARACTERS) lines.push(word);
    else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
  return lines.map((line) => `    ${line}\n`).join('');
}

const version = npm('view', 'cldr-core', 'version');
const published = (JSON.parse(npm('view', 'cldr-core', 'time', '--json'))[version] as string).slice(0, 10);

const uses = Object.values(readTerritories(version))
  .flat()
  .flatMap((use) => Object.entries(use));
const inUse = new Set(OF_ISO_ALONE);
for (const [code, { _from = '', _to = '9999', _tender }] of uses)
  if (_tender !== 'false' && _from <= published && published <= _to) inUse.add(code);

const groups = Map.groupBy([...inUse].sort(), (code) => DECIMALS.get(code) ?? 2);
const text = [...groups]
  .sort(([one], [other]) => one - other)
  .map(([decimals, found]) => `  ${decimals}: \`\n${wrapped(found)}  \`,\n`);
writeFileSync(
  new URL('../src/lib/currencies.ts', import.meta.url),
  `// The currencies of ISO 4217 in use, by their decimals: written by scripts/write-currencies.ts from Unicode CLDR ${version}.

/** The day on which the source was published. */
export const CURRENCIES_AS_OF = '${published}';

/** Codes parted by white space, by how many decimals amounts in them have. */
export const CODES_BY_DECIMALS: Readonly<Record<number, string>> = {
${text.join('')}};
`,
);

/** Files of banks may be old: what ended since then counts as a currency there. */
const ENDED_SINCE = String(Number(published.slice(0, 4)) - 10);
/** Codes of no currency: for tests, and for transactions without one. */
const NONE = ['XTS', 'XXX'];
const known = new Set([...uses].filter(([, { _to = '9999' }]) => _to >= ENDED_SINCE).map(([code]) => code));
const all = [...known.union(inUse)].filter((code) => !NONE.includes(code));
writeFileSync(
  new URL('../packages/bank-statements/src/currencies.ts', import.meta.url),
  `// The currencies of ISO 4217 since ${ENDED_SINCE}, funds and metals too: written by scripts/write-currencies.ts from Unicode CLDR ${version}.

/** Codes parted by white space. */
export const CODES = \`
${wrapped(all.sort())}\`;
`,
);
