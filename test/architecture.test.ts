// The house's rules about its own files: which may import which, who may know what, and how each opens.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { STORIES, walk } from '../scripts/walk.ts';
import { LONG_FILES, LONG_FUNCTIONS, NAMES_SHARED } from './support/exceptions.ts';
import { exportedNames, functionsOf, longLines, withSyntax } from './support/syntax.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const everywhere = globSync('{src,test,bench,scripts,bin,packages/*/{src,test,bin}}/**/*.{ts,js}', {
  cwd: root,
}).sort();
const sources = everywhere.filter((file) => file.startsWith('src/'));
/** Packages that others install too. What they offer is what their `index.ts` exports. */
const packaged = everywhere.filter((file) => /^packages\/[^/]+\/src\//.test(file));

/** Rooms from top to bottom. An import leads downwards or stays within its room. */
const LAYERS = [
  ['operate'],
  ['mail'],
  ['checkout', 'webhooks', 'statements'],
  ['review'],
  ['payments'],
  ['merchants'],
  ['administrators'],
  ['web'],
  ['journal'],
  ['store'],
  ['lib'],
];
/** Files that show pages to people. */
const isPage = (file: string) => /^src\/(checkout|[a-z]+\/(pages|registration|letters))\//.test(file);
/** Files that answer requests: pages and APIs. */
const isSurface = (file: string) => isPage(file) || /^src\/[a-z]+\/(api|admin|metrics)\//.test(file);

/** The first line of a file, without what marks it as a comment: its caption. */
const captionOf = (file: string) => /^(?:#!.*\n)?(?:\/\/|--) (\S.*)\n/.exec(read(file))?.[1];

/** How many files of the rooms all test files import together. The number only shrinks. */
const KNOWN_BY_TESTS = 125;

const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** The text of a file without its comments, as the formatter lays them out. */
function code(file: string): string {
  return read(file)
    .replace(/^\s*\/\*[\s\S]*?\*\//gm, '')
    .replace(/(^|\s)\/\/ .*$/gm, '$1');
}

/** What a file imports, types included: `./x.ts` as the path from the root, packages by name. */
function importsOf(file: string): string[] {
  const found = code(file).matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g);
  return [...found].map(([, name]) =>
    name!.startsWith('.') ? normalize(join(dirname(file), name!)) : name!,
  );
}

/** The room of `src/` that a file belongs to. */
const partOf = (file: string) => file.split('/')[1]!;
const layerOf = (part: string) => LAYERS.findIndex((layer) => layer.includes(part));

/** Every import between two parts of `src/`, as `[importer, imported]`. */
const arrows = sources.flatMap((file) =>
  importsOf(file)
    .filter((name) => name.startsWith('src/'))
    .map((name): [string, string] => [file, name])
    .filter(([from, to]) => partOf(from) !== partOf(to)),
);

const told = ([from, to]: [string, string]) => `${from} → ${to}`;

/** The lines of `files` that hold `pattern` outside comments, as `file: line`. */
function linesWith(files: readonly string[], pattern: RegExp): string[] {
  return files.flatMap((file) =>
    code(file)
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
}

test('every file of src/ belongs to a known layer', () => {
  assert.deepEqual(
    sources.filter((file) => layerOf(partOf(file)) === -1),
    [],
  );
});

test('CONTRIBUTING.md shows the layers as they are', () => {
  const [, shown] = /holds them to it:\n\n((?: {4}.*\n)+)/.exec(read('CONTRIBUTING.md'))!;
  const layers = LAYERS.map((parts) => parts.map((part) => basename(part, '.ts')).join(' | ')).join(' → ');
  assert.equal(shown!.trim().replace(/\s+/g, ' '), layers);
});

test('imports lead downwards and never back', () => {
  assert.ok(arrows.length > 50, 'the imports are found');
  const wrong = arrows.filter(([from, to]) => layerOf(partOf(from)) >= layerOf(partOf(to)));
  assert.deepEqual(wrong.map(told), []);
});

test('a package imports its own files and its dependencies alone, and only its command imports Node', () => {
  assert.ok(packaged.length > 20);
  const wrong = packaged.flatMap((file) => {
    const folder = file.split('/').slice(0, 2).join('/');
    const { dependencies, peerDependencies } = JSON.parse(read(`${folder}/package.json`));
    const isAllowed = (name: string) =>
      name.startsWith(`${folder}/src/`) ||
      Object.keys({ ...dependencies, ...peerDependencies }).some(
        (one) => name === one || name.startsWith(`${one}/`),
      ) ||
      (name.startsWith('node:') && file.endsWith('/cli.ts'));
    return importsOf(file)
      .filter((name) => !isAllowed(name))
      .map((name) => told([file, name]));
  });
  assert.deepEqual(wrong, []);
});

test('only pages are built of web/markup/, which is built of lib/ alone', () => {
  const isMarkup = (file: string) => file.startsWith('src/web/markup/');
  const wrong = arrows.filter(
    ([from, to]) => (isMarkup(to) && !isPage(from)) || (isMarkup(from) && partOf(to) !== 'lib'),
  );
  assert.deepEqual(wrong.map(told), []);
});

test('only commands read all checkpoints without giving others a turn', () => {
  const serving = sources.filter(
    (file) => !file.startsWith('src/operate/commands/') && file !== 'src/journal/checkpoint.ts',
  );
  assert.deepEqual(linesWith(serving, /\breadCheckpoint(s|File)\(/), []);
});

test('no import runs in a circle', () => {
  const done = new Set<string>();
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) assert.fail([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file)) return;
    for (const name of importsOf(file)) if (sources.includes(name)) visit(name, [...path, file]);
    done.add(file);
  };
  for (const file of sources) visit(file, []);
});

test('only pages and APIs, web/ and operate/ know Fastify', () => {
  const knowing = sources.filter((file) => importsOf(file).some((name) => /^@?fastify\b/.test(name)));
  assert.ok(knowing.includes('src/operate/app.ts'));
  assert.deepEqual(
    knowing.filter((file) => !isSurface(file) && !['web', 'operate'].includes(partOf(file))),
    [],
  );
});

test('only store/ knows pg and node:sqlite', () => {
  const knowing = sources.filter((file) => importsOf(file).some((name) => /^(pg|node:sqlite)$/.test(name)));
  assert.equal(knowing.length, 5);
  assert.deepEqual(
    knowing.filter((file) => partOf(file) !== 'store'),
    [],
  );
});

/** The rooms whose SQL may name each table. Reviewing is about payments; erasing and counting failures go by the history. */
const TABLES: Record<string, string[]> = {
  payments: ['payments', 'review'],
  idempotency_keys: ['payments'],
  payment_stretches: ['payments'],
  merchants: ['merchants'],
  merchant_states: ['merchants'],
  api_keys: ['merchants'],
  api_key_uses: ['merchants'],
  invites: ['merchants'],
  letters: ['mail'],
  letter_queues: ['mail'],
  webhook_endpoints: ['webhooks'],
  webhook_queues: ['webhooks'],
  webhook_deliveries: ['webhooks'],
  webhook_attempts: ['webhooks'],
  administrators: ['administrators'],
  passkeys: ['administrators'],
  sessions: ['administrators'],
  administrator_tokens: ['administrators'],
  audit_entries: ['journal', 'payments', 'administrators'],
  seals: ['journal'],
  journal_head: ['journal'],
};

test('the SQL of a room names its own tables alone', () => {
  const queries = sources.filter((file) => /^(.*-)?queries\.ts$/.test(basename(file)));
  const wrong = queries.flatMap((file) =>
    [...code(file).matchAll(/\b(?:from|join|update|into) ([a-z_]+)\b/g)]
      .filter(([, table]) => table! in TABLES && !TABLES[table!]!.includes(partOf(file)))
      .map(([, table]) => `${file}: ${table}`),
  );
  assert.deepEqual(wrong, []);
});

test('SQL stands only in queries.ts and *-queries.ts, in journal/ and in store/', () => {
  const sql =
    /['"`]\s*(select\b.*\bfrom\b|with \w+ as\b|insert into\b|update \w+ set\b|delete from\b|(create|drop|alter) (table|index|trigger|database)\b|pragma \w+|begin( immediate)?['"`]|commit['"`]|rollback['"`])/i;
  const isAllowed = (file: string) =>
    /^(.*-)?queries\.ts$/.test(basename(file)) || ['journal', 'store'].includes(partOf(file));
  assert.ok(linesWith(sources.filter(isAllowed), sql).length > 15, 'the statements are found');
  assert.deepEqual(
    linesWith(
      sources.filter((file) => !isAllowed(file)),
      sql,
    ),
    [],
  );
});

test('only operate/environment.ts reads the environment', () => {
  const pattern = /\bprocess\.env\b|\benv\b.*from 'node:process'/;
  assert.deepEqual(linesWith(sources, pattern), [
    'src/operate/environment.ts: export const environment: Environment = process.env;',
  ]);
});

test('only lib/time.ts reads the clock', () => {
  const pattern =
    /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)|\bperformance\b|\bprocess\.(hrtime|uptime)\b|\bTemporal\.Now\b|stdTimeFunctions/;
  const readers = linesWith(sources, pattern);
  assert.ok(readers.length > 0);
  assert.deepEqual(
    readers.filter((line) => !line.startsWith('src/lib/time.ts: ')),
    [],
  );
});

test('only lib/moments.ts writes days and clock times for people, and only lib/time.ts for programs', () => {
  const pattern =
    /Intl\.DateTimeFormat|toLocale(Date|Time)String|\bto(ISO|UTC|Date|Time)String\b|\bget(UTC)?(FullYear|Month|Date|Day|Hours|Minutes)\(|imestamp\w*\(.*\)\.slice\((11|0, 1[0-6]\b)|\b(ate|At|at)\w*!?\.slice\(0, 1\d\)/;
  const writers = linesWith(sources, pattern);
  assert.ok(writers.length > 0);
  assert.deepEqual(
    writers.filter((line) => !/^src\/lib\/(time|moments)\.ts: /.test(line)),
    [],
  );
});

test('sentences of commands, checks and pages have no instants for programs', () => {
  const instants = linesWith(sources, /`[^`]*\$\{(?:formatTimestamp\(|(?:\w+[.])?\w+_at\})/);
  const isRead = /^src\/operate\/(?:commands|checks)\/(?!backup-folder)|\/pages\/|^src\/checkout\//;
  assert.deepEqual(
    instants.filter((line) => isRead.test(line) && !/datetime="|DTSTAMP/.test(line)),
    [],
  );
});

test('pages and commands write days in words', () => {
  const days = linesWith(sources, /\$\{[^{}]*[.!](?:\w*_day|day|date|\w+Day)\}|\w+_day\](?:\.filter)?/);
  assert.deepEqual(
    days.filter((line) => /\/pages\/|^src\/operate\/commands\//.test(line) && !/datetime="/.test(line)),
    [],
  );
});

/** Folders of tests that stand for no folder of `src/`. */
const OTHER_TESTS = [
  'campaigns',
  'examples',
  'operating',
  'releases',
  'security',
  'specification',
  'support',
];

test('test/ has the folders of src/', () => {
  const rooms = (top: string) => new Set(globSync(`${top}/*/`, { cwd: root }).map((path) => basename(path)));
  const sourceRooms = rooms('src');
  const others = [...rooms('test')].filter((room) => !sourceRooms.has(room));
  assert.deepEqual(others.sort(), OTHER_TESTS);
});

test('no file is called by a name that says nothing', () => {
  const empty = /^(utils?|helpers?|common|manager|services?|base|misc)$/;
  const named = everywhere.filter((file) => !file.endsWith('.test.ts')); // tests are named after their subject
  const nameless = named.filter((file) =>
    file.split('/').some((part) => part.split(/[.-]/).some((word) => empty.test(word))),
  );
  assert.deepEqual(nameless, []);
});

test('every file opens with a sentence that says what it is', () => {
  const silent = everywhere.filter((file) => !/^\S.{10,}[.:]$/.test(captionOf(file) ?? ''));
  assert.deepEqual(silent, []);
  assert.deepEqual(
    sources.filter((file) => (captionOf(file) ?? '').length > 140),
    [],
    'a caption is one line of at most 140 characters',
  );
});

/** What `docs/style.md` promises of sizes; what stands above it is in `support/exceptions.ts`, each with its reason. */
const FILE_LINES = 400;
const FUNCTION_LINES = 70;
const LINE_CHARACTERS = 140;

/** Files, functions and exported names of `src/` and of packages, as the compiler reads them. */
const syntax = withSyntax((syntaxOf) =>
  [...sources, ...packaged]
    .filter((file) => file.endsWith('.ts'))
    .map((file) => {
      const source = syntaxOf(file);
      return {
        file,
        lines: source.text.split('\n').length - 1,
        longLines: longLines(source, LINE_CHARACTERS),
        functions: functionsOf(source),
        exported: exportedNames(source),
      };
    }),
);

/** What `found` has above `allowed`, and what `allowed` has without need. */
function beyond(found: ReadonlyMap<string, number>, allowed: Record<string, number>): string[] {
  const above = [...found].filter(([name, size]) => size > (allowed[name] ?? 0));
  const needless = Object.keys(allowed).filter((name) => !found.has(name));
  return [
    ...above.map(([name, size]) => `${name}: ${size}`),
    ...needless.map((name) => `${name}: take it out of support/exceptions.ts`),
  ];
}

const linesOf = (list: Record<string, { lines: number }>) =>
  Object.fromEntries(Object.entries(list).map(([name, { lines }]) => [name, lines]));

test('test files know few files of the rooms, so that a move inside one breaks no test', () => {
  const isOfARoom = (name: string) => /^src\/(?!lib|store|journal)/.test(name);
  const tests = everywhere.filter((file) => /^test\/(?!support|campaigns).*\.ts$/.test(file));
  const known = new Set(tests.flatMap(importsOf).filter(isOfARoom));
  assert.ok(known.has('src/operate/config.ts'));
  const asked =
    'arrange and ask through /v1, /admin, pages, commands and test/support, or take down the number';
  assert.equal(known.size, KNOWN_BY_TESTS, asked);
});

test('files, functions and lines of src/ are short, but for exceptions that only shrink', () => {
  assert.ok(syntax.some(({ functions }) => functions.length > 10));
  const files = syntax.filter(({ lines }) => lines > FILE_LINES);
  assert.deepEqual(beyond(new Map(files.map(({ file, lines }) => [file, lines])), linesOf(LONG_FILES)), []);
  const functions = syntax.flatMap(({ file, functions }) =>
    functions.map(({ name, lines }): [string, number] => [`${file}: ${name}`, lines]),
  );
  const long = new Map(functions.filter(([, lines]) => lines > FUNCTION_LINES));
  assert.deepEqual(beyond(long, linesOf(LONG_FUNCTIONS)), []);
  const lines = syntax.filter(({ longLines }) => longLines > 0);
  assert.deepEqual(beyond(new Map(lines.map(({ file, longLines }) => [file, longLines])), {}), []);
});

test('no exported name means two things in two rooms, but for exceptions that only shrink', () => {
  const rooms = new Map<string, Set<string>>();
  for (const { file, exported } of syntax)
    for (const name of exported) rooms.set(name, (rooms.get(name) ?? new Set()).add(partOf(file)));
  const shared = [...rooms].filter(([, parts]) => parts.size > 1).map(([name]) => name);
  assert.ok(rooms.has('Journal'));
  const wrong = shared.filter((name) =>
    [...rooms.get(name)!].some((room) => !NAMES_SHARED[name]?.rooms.includes(room)),
  );
  assert.deepEqual(wrong, [], 'rename what is new');
  const needless = Object.keys(NAMES_SHARED).filter((name) => !shared.includes(name));
  assert.deepEqual(needless, [], 'take it out of support/exceptions.ts');
});

test('each name that a file of src/ exports is named by a file that imports it', () => {
  const importers = new Map<string, string[]>();
  for (const file of everywhere) {
    const text = code(file);
    for (const name of importsOf(file)) importers.set(name, [...(importers.get(name) ?? []), text]);
  }
  const isNamed = (name: string, text: string) => new RegExp(`\\b${name}\\b`).test(text);
  const named = syntax.filter(({ file }) => !/^packages\/[^/]+\/src\/(index|cli)\.ts$/.test(file));
  const needless = named.flatMap(({ file, exported }) =>
    exported
      .filter((name) => !importers.get(file)?.some((text) => isNamed(name, text)))
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(needless, [], 'take the export away, or what nothing uses');
});

test('a create and an approval are read in few files, from their route to what the store is asked for', () => {
  const files = Object.entries(STORIES).map(([story, steps]) => {
    const met = [...walk(steps).keys()];
    return [story, { ofRooms: met.filter((file) => !file.startsWith('lib/')).length, all: met.length }];
  });
  // A figure that rises tells of one more file to read for whoever changes the story; one that fell is written down.
  assert.deepEqual(Object.fromEntries(files), {
    create: { ofRooms: 28, all: 40 },
    approve: { ofRooms: 28, all: 42 },
  });
});

test("comments of src/ use the field's terms (docs/style.md)", () => {
  const words = /\b(whoever|nobody|somebody|nothing where|kept answer|late answer|raises)\b/i;
  const comments = sources.flatMap((file) =>
    read(file)
      .split('\n')
      .filter((line) => /(^|\s)(\/\/|\/?\*)/.test(line) && words.test(line.slice(line.search(/\/\/|\*/))))
      .map((line) => `${file}: ${line.trim()}`),
  );
  assert.deepEqual(comments, []);
});
