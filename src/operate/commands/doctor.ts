// counterfoil doctor: looks at everything that can be wrong with an installation, and says how to fix it.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { SECOND_MS, systemClock } from '../../lib/time.ts';
import { overridingParameter } from '../../store/connection-string.ts';
import { type Database, DatabaseError } from '../../store/database.ts';
import { CarryUnfinished, refuseUnfinishedCarry } from '../../store/migrate.ts';
import {
  isRestoreUnfinished,
  openDatabase,
  SQLITE_FILE,
  StorageExposed,
  storeExists,
} from '../../store/open.ts';
import {
  type Check,
  type CheckOutcome,
  failed,
  type Subject,
  skipped,
  type Verdict,
} from '../checks/check.ts';
import { advice, type Finding, Inspector, sentence, tally } from '../checks/checks.ts';
import { misplacedFiles } from '../checks/store-checks.ts';
import { type Configuration, configurationFile, installationOf, readConfiguration } from '../config.ts';
import { environment } from '../environment.ts';
import type { StoreOptions } from './store.ts';
import { mayColor, shownPath, styled } from './terminal.ts';
import { CONFIG_OPTION, newCommand, parseCount } from './usage.ts';

/** How long an address, a host or a folder may take: by default, and at most. */
const TIMEOUT_S = 5;
const TIMEOUT_S_MAXIMUM = 3600;
/** Lines are broken here where a terminal does not say how wide it is. */
const WIDTH = 100;

export function command(): Command {
  return newCommand(
    'doctor',
    'look at everything that can be wrong with an installation, and say how to fix it',
    ['doctor', 'doctor --json --config /etc/counterfoil/counterfoil.yaml'],
    `It changes nothing, and calls the installation's own addresses. Run it as the account and with the environment that the
service has: who may read what, and what Node was told, is judged as it is here.

What each check means: docs/doctor.md.`,
  )
    .option(...CONFIG_OPTION)
    .option('--deep', 'read the whole store, too, and prove its indexes')
    .option(
      '--timeout <seconds>',
      'how long each address, host and folder may take to answer',
      parseCount(TIMEOUT_S_MAXIMUM),
      TIMEOUT_S,
    )
    .action(doctor);
}

interface Options extends StoreOptions {
  deep?: boolean;
  timeout: number;
}

async function doctor(options: Options): Promise<void> {
  // Report what production refuses with all other findings, not alone.
  const configuration = readConfiguration(configurationFile(options.config), environment, {
    unfinished: true,
  });
  const findings = await inspect(configuration, undefined, options);
  const counts = tally(findings);
  if (counts.failed > 0) process.exitCode = 1;
  if (options.json) {
    const { environment, file } = configuration;
    const told = findings.map(({ id, is, about, where, says, fix, beforeProduction }) => ({
      id,
      outcome: is,
      about,
      says: sentence(says),
      where: where ?? null,
      fix: fix === undefined ? null : advice(fix),
      before_production: beforeProduction,
    }));
    console.log(JSON.stringify({ environment, file, counts, findings: told }));
    return;
  }
  console.log(report(configuration, findings));
}

/** The findings of all checks, or of some. Opens the store if there is one, and makes none. */
export async function inspect(
  configuration: Configuration,
  checks?: readonly Check[],
  { deep = false, timeout = TIMEOUT_S }: Partial<Options> = {},
): Promise<Finding[]> {
  const store = await storeOf(configuration);
  const subject = {
    ...installationOf(configuration),
    clock: systemClock,
    deadlineMs: timeout * SECOND_MS,
    deep,
    store,
  };
  try {
    return await new Inspector(subject).findings(checks);
  } finally {
    if ('database' in store) await store.database.close();
  }
}

async function storeOf(configuration: Configuration): Promise<Subject['store']> {
  const unusable = unusableStorage(configuration);
  if (unusable) return { none: unusable };
  if (misplacedFiles(configuration))
    return { none: skipped('The store is not opened: the server has other files open than those in place') };
  if (isRestoreUnfinished(configuration)) {
    const fix = 'run the same counterfoil restore again, which begins anew';
    return { none: failed('A restore is unfinished, and there is no whole store', fix) };
  }
  if (!storeExists(configuration))
    return { none: skipped('There is no store yet: the first start makes it') };
  let database: Database | undefined;
  try {
    database = await openDatabase(configuration, (error) => {
      throw error;
    });
    await refuseUnfinishedCarry(database, database.engine);
    return { database };
  } catch (error) {
    await database?.close();
    if (error instanceof CarryUnfinished) {
      const fix = 'run the same counterfoil move or restore again, which begins anew';
      return { none: failed('A move or a restore into this database is unfinished', fix) };
    }
    if (error instanceof StorageExposed)
      return { none: skipped('The store is not opened while others can read it') };
    if (!(error instanceof DatabaseError)) throw error;
    const { database_url: url } = configuration;
    if (url !== null && overridingParameter(url) !== undefined)
      return { none: skipped(`The store is not opened: ${error.message}`) }; // which is said of the string itself
    return {
      none: failed(
        `The store cannot be opened: ${error.message || 'nothing answers at its address'}`,
        /connection slots|too many/.test(error.message)
          ? 'see "PostgreSQL is full" in docs/operating/runbook.md'
          : 'see that the database runs, and that this account may use it',
      ),
    };
  }
}

/** Why this account cannot use the files of the storage folder. Undefined if it can, or if there is no folder yet. */
function unusableStorage({ storage }: Configuration): Verdict | undefined {
  for (const [path, mode] of [
    [storage, constants.R_OK | constants.W_OK | constants.X_OK],
    [join(storage, SQLITE_FILE), constants.R_OK | constants.W_OK],
  ] as const) {
    try {
      accessSync(path, mode);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      const fix = 'run doctor as the account that serves, or give storage to this one';
      return failed(`This account may not read and write it (${code})`, fix, path);
    }
  }
  return undefined;
}

const STYLES: Record<CheckOutcome, Parameters<typeof styled>[1]> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};
const OUTCOME_WIDTH = 'warning'.length;

/** The findings as a page of text: what is to be fixed first, and what would keep production from starting below all else. */
function report(configuration: Configuration, findings: readonly Finding[]): string {
  const { environment, file } = configuration;
  const counts = tally(findings);
  const later = findings.filter(({ beforeProduction }) => beforeProduction);
  const out = process.stdout;
  const heading = (text: string) => styled(out, 'bold', text);
  const aboutWidth = Math.max(...findings.map(({ about }) => about.length));
  const list = (some: readonly Finding[]) => some.map((one) => told(one, aboutWidth)).join('\n');
  return [
    `${heading('counterfoil doctor')}  ${environment} · ${shownPath(file)}`,
    '',
    list(worstFirst(findings.filter(({ is, beforeProduction }) => is !== 'skipped' && !beforeProduction))),
    ...(later.length > 0 ? ['', heading('Before production'), '', list(later)] : []),
    ...(counts.skipped > 0 ? ['', heading('Not looked at'), '', ...reasons(findings)] : []),
    '',
    `${counts.ok} ok, ${counts.warning} ${counts.warning === 1 ? 'warning' : 'warnings'}, ${counts.failed} failed, ${counts.skipped} skipped. What each means: docs/doctor.md.`,
  ].join('\n');
}

/** What is well keeps the order of the list. */
const RANKS: Record<CheckOutcome, number> = { failed: 0, warning: 1, ok: 2, skipped: 2 };
const worstFirst = (findings: readonly Finding[]) =>
  findings.toSorted((one, other) => RANKS[one.is] - RANKS[other.is]);

/** Why checks were skipped, each reason once, with the checks behind it. */
function reasons(findings: readonly Finding[]): string[] {
  const skipped = findings.filter(({ is }) => is === 'skipped');
  const because = ({ says, fix }: Finding) => sentence(says) + (fix === undefined ? '' : ` ${advice(fix)}`);
  return [...Map.groupBy(skipped, because)].flatMap(([reason, some]) => {
    const [first, ...lines] = wrapped(
      `${reason} (${some.map(({ about }) => about).join(', ')})`,
      lineWidth() - 4,
    );
    return [`  ${first}`, ...lines.map((line) => `    ${line}`)];
  });
}

const lineWidth = () => (mayColor(process.stdout) && process.stdout.columns) || WIDTH;

/** One finding: what it comes to, what was looked at, and in lines below one another what is so and how to fix it. */
function told({ is, about, where, says, fix }: Finding, aboutWidth: number): string {
  const indent = 2 + OUTCOME_WIDTH + 2 + aboutWidth + 2;
  const width = Math.max(40, lineWidth()) - indent;
  const lines = [
    ...wrapped(`${where === undefined ? '' : `${where}: `}${sentence(says)}`, width),
    ...(fix === undefined ? [] : wrapped(advice(fix), width)),
  ];
  const head = `  ${styled(process.stdout, STYLES[is], is.padEnd(OUTCOME_WIDTH))}  ${about.padEnd(aboutWidth)}  `;
  return lines.map((line, i) => (i === 0 ? head : ' '.repeat(indent)) + line).join('\n');
}

/** Text in lines of at most `width` characters, broken between words; a longer word stands whole. */
function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!;
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
