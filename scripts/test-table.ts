// What `npm test` and `npm run test:all` run of the test files: one table that says for each file why it stands where it does.
import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import type { Part } from './test-run.ts';

/**
 * - `both`: `npm test` runs it on SQLite and on PostgreSQL.
 * - `sqlite`: `npm test` runs it on SQLite, and on PostgreSQL only what it asks of that alone.
 * - `all`: `npm run test:all` alone runs it.
 *
 * `npm run test:all` runs every file on both, with every row of its tables (`test/support/extent.ts`); with `-- --rest` what `npm test` left out.
 */
export type Stand = 'both' | 'sqlite' | 'all';

interface Row {
  stand: Stand;
  why: string;
  /** Globs below `test/`, without `.test.ts`; a file stands where the first row says that fits it. */
  files: readonly string[];
}

export const TABLE: readonly Row[] = [
  {
    stand: 'both',
    why: 'the contract of the store: what each engine must do alike, its schema and its migrations',
    files: ['store/{migrate,schema,storage,table,look-up,round-trips,lying-index,postgres}', 'releases'],
  },
  {
    stand: 'both',
    why: 'the history: its entries, seals and rows are what the engine stored',
    files: ['journal/**/*', 'operate/commands/{audit,erase}', 'statements/erase'],
  },
  {
    stand: 'both',
    why: 'races and repeated requests: an engine decides who is first',
    files: [
      'payments/api/{idempotency,expiry}',
      'statements/matching/line-races',
      'review/record-money',
      'webhooks/several',
    ],
  },
  {
    stand: 'both',
    why: 'one story of each room, with each of its queries once',
    files: [
      'specification/*',
      'payments/api/list',
      'payments/events/{events,changed}',
      'review/{queue,review}',
      'review/admin/payments',
      'statements/{import,period}',
      'statements/matching/line-acts',
      'merchants/{follow,key-uses}',
      'privacy',
    ],
  },
  {
    stand: 'sqlite',
    why: 'who can read and use a page: one of each kind',
    files: ['kinds.browser'],
  },
  {
    stand: 'all',
    why: 'every scene in a browser, in each language, width and light; `npm test` looks at one of each kind (kinds.browser)',
    files: [
      'checkout/{browser,receipt.browser}',
      'merchants/registration/browser',
      'operate/pages/{browser,gallery.browser,whole.browser}',
      'statements/pages/statement-lines.browser',
    ],
  },
  {
    stand: 'all',
    why: 'a long table of how commands refuse: each is refused by what its own file holds in `npm test`',
    files: ['operate/commands/refusals'],
  },
  {
    stand: 'all',
    why: 'real processes, terminals and tools of the machine: what they say of exit codes, signals and streams changes with `bin/` and `serve` alone',
    files: [
      'operate/commands/{serve,terminal,first-steps,backup-postgres,lost-store,move-whole}',
      'first-run.browser',
      'operating/exit-78',
    ],
  },
  {
    stand: 'sqlite',
    why: 'who may do what, and what nobody may read: permission and personal data',
    files: [
      'authorisation',
      'security/*',
      'administrators/**/*',
      'payments/api/isolation',
      'checkout/{canary,forgery,injection}',
    ],
  },
  {
    stand: 'sqlite',
    why: 'money, and what becomes of a payment',
    files: ['payments/**/*', 'review/**/*', 'statements/**/*', 'checkout/*', 'merchants/**/*'],
  },
  {
    stand: 'sqlite',
    why: 'what comes in and goes out over HTTP, judged before or behind the store',
    files: [
      'web/*',
      'webhooks/**/*',
      'mail/**/*',
      'openapi*',
      'log',
      'examples/*',
      '../packages/client/test/*',
    ],
  },
  {
    stand: 'sqlite',
    why: 'what operators do and are told',
    files: [
      'operate/**/*',
      'operating',
      'operating/*',
      'alerts',
      'config',
      'containers',
      'deploy',
      'kubernetes',
    ],
  },
  {
    stand: 'sqlite',
    why: 'no store at all: functions, connection strings, files of one engine, and rules of the source and its documents',
    files: [
      'lib/*',
      'store/*',
      'architecture',
      'documents',
      'suite',
      'supply',
      'package',
      '../packages/*/test/*',
    ],
  },
];

/** What a file contains that another file of its process would notice: it gets a process of its own. */
const NEEDS_OWN_PROCESS = new RegExp(
  [
    // Replaced for the whole process, and in some files not put back.
    'process\\.env\\.\\w+ = ',
    'setDefaultCACertificates',
    // Measured of the whole process.
    'process\\.memoryUsage',
    // Other processes open the store while this one serves it, in the hundreds of calls of one file.
    'fastify\\.initialization',
  ].join('|'),
);

/** Every test file but the campaigns. */
export function testFiles(): string[] {
  return globSync('{test,packages/*/test}/**/*.test.ts', { exclude: ['test/campaigns/**/*'] }).sort();
}

/** The globs of a row, from the root. */
export function globsOf({ files }: Row): string[] {
  return files.map((glob) => join('test', `${glob}.test.ts`));
}

/** The row of a file; undefined where the table has none, and for what is no test file. */
export function rowOf(file: string): Row | undefined {
  return TABLE.find((row) => globsOf(row).some((glob) => matchesGlob(file, glob)));
}

/** `listed`: what `npm test` runs. `rest`: what that leaves out. `whole`: both, whatever the table says. */
export type Extent = 'listed' | 'rest' | 'whole';

/** How a file is run: on which engines, and whether with every row of its tables. */
export interface Way {
  engines: 'both' | 'sqlite' | 'postgres';
  isWhole: boolean;
}

/** How an extent runs a file that stands somewhere and has the text; undefined where it does not. */
export function wayOf(stand: Stand | undefined, text: string, extent: Extent): Way | undefined {
  if (extent === 'whole') return { engines: 'both', isWhole: true };
  const isListed = stand === 'both' || stand === 'sqlite';
  if (extent === 'listed') return isListed ? { engines: stand, isWhole: false } : undefined;
  if (!isListed) return { engines: 'both', isWhole: true };
  const isSampled = text.includes("support/extent.ts'");
  if (stand === 'sqlite' && /\bENGINES\b/.test(text))
    return { engines: isSampled ? 'both' : 'postgres', isWhole: true };
  return isSampled ? { engines: stand, isWhole: true } : undefined;
}

/** What is to be run of files, in parts that are run in one way. */
export function partsOf(files: readonly string[], extent: Extent): Part[] {
  const parts = new Map<string, Part & { files: string[] }>();
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const way = wayOf(rowOf(file)?.stand, text, extent);
    if (!way) continue;
    const apart = NEEDS_OWN_PROCESS.test(text);
    const env = {
      ...(way.isWhole && { COUNTERFOIL_TEST_WHOLE: '1' }),
      ...(way.engines !== 'both' && { COUNTERFOIL_TEST_ENGINES: way.engines }),
    };
    const key = JSON.stringify([apart, way]);
    parts.set(key, { apart, env, files: [...(parts.get(key)?.files ?? []), file] });
  }
  return [...parts.values()];
}
