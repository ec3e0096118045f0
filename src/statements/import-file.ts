// Imports one file: reads it, says what is wrong with it, and commits what is right as one transaction.

import type {
  CsvLayout,
  CsvSeen,
  ReadStatements,
  RememberedLayout,
  Statement,
  StatementFault,
} from '#bank-statements';
import { overviewOf, signedAmount } from '#bank-statements';
import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction } from '../journal/transaction.ts';
import { counted } from '../lib/counted.ts';
import type { MethodSettings } from '../payments/methods/method.ts';
import { DatabaseError } from '../store/database.ts';
import { ownAccount } from './account.ts';
import { gapFaults } from './gap.ts';
import { type Imported, importInTurns, importStatements, type OwnStatement } from './import.ts';
import { rememberLayout } from './remembered.ts';

/** A fault with the name of its file. */
export type FileFault = StatementFault & { file: string };

/** A fault in one line: `november.xml:12: The day 2026-11-31 does not exist.` */
export const faultLine = ({ file, line, text }: FileFault): string =>
  `${line > 0 ? `${file}:${line}` : file}: ${text}`;

/** What a file holds that may be imported, and what is wrong with the rest. */
export interface CheckedFile {
  statements: OwnStatement[];
  faults: FileFault[];
  /** What a person should know although nothing is wrong. */
  notes: FileFault[];
  /** Layouts of CSV files that the bookkeeper confirmed: they are kept with the import. */
  confirmed?: RememberedLayout[];
}

interface ImportOptions {
  /** Imports what is right although something is not. */
  despiteFaults: boolean;
  /** Rolls everything back. */
  dryRun: boolean;
}

/** How long a rehearsal of an import may take. */
const REHEARSAL_MS = 8000;

/** The layouts with which CSV files were read, each for every account in its file: what a bookkeeper confirms with an import. */
export function layoutsOf(
  { csv = [] }: ReadStatements,
  statements: readonly OwnStatement[],
): RememberedLayout[] {
  return csv
    .filter(({ questions }) => questions.length === 0)
    .flatMap(({ file, shape, layout }) => {
      const accounts = new Set(
        // An export without lines proves nothing of its layout.
        statements.flatMap(({ own, statement }) =>
          statement.file === file && statement.lines.length > 0 ? own : [],
        ),
      );
      return [...accounts].map((account) => ({ account, shape, layout: layout as CsvLayout }));
    });
}

/** Whether a person has to look how a CSV file is read: its names are those of no known export, and no layout of it was confirmed. */
export const isUnseen = ({ questions, isExact, isRemembered }: CsvSeen): boolean =>
  questions.length === 0 && !isExact && !isRemembered;

/**
 * Holds what a file says against the accounts that transfers are paid to, and gathers all faults. A CSV file that a person has to
 * look at is not imported, despite faults neither, unless `isConfirmed`.
 */
export function checkFile(
  { statements, faults, notes = [], csv = [] }: ReadStatements,
  methods: readonly Pick<MethodSettings, 'accounts'>[],
  isConfirmed = false,
): CheckedFile {
  const unseen = isConfirmed ? [] : csv.filter(isUnseen);
  const isSeen = (file: string) => !unseen.some((one) => one.file === file);
  const ours = statements.map((statement) => ({ own: ownAccount(statement.account, methods), statement }));
  return {
    statements: ours.filter(
      (one): one is OwnStatement => one.own !== undefined && isSeen(one.statement.file),
    ),
    faults: [
      ...faults,
      ...unseen.map((one) => unseenFault(one, statements)),
      ...statements.flatMap(({ file, faults }) => faults.map((fault) => ({ file, ...fault }))),
      ...ours.filter(({ own }) => own === undefined).map(({ statement }) => strangerFault(statement)),
      ...gapFaults(statements),
    ],
    notes: [
      ...notes,
      ...statements.flatMap(({ file, notes = [] }) => notes.map((note) => ({ file, ...note }))),
    ],
  };
}

const UNSEEN =
  'This CSV file is of no export that is known by its columns, so look how it is read before it is imported: in the console, or by counterfoil statements import, which shows it and takes --confirm.';

function unseenFault({ file, headerLine = 0 }: CsvSeen, statements: readonly Statement[]): FileFault {
  const sums = statements
    .filter((one) => one.file === file)
    .map((one) => {
      const { lines, creditMinor, debitMinor } = overviewOf(one);
      const money = `${signedAmount(creditMinor)} in and ${signedAmount(debitMinor)} out`;
      return `${counted(lines, 'line')}, ${money} ${one.account.currency ?? ''}`.trim();
    });
  return { file, line: headerLine, text: `${UNSEEN} As it is read: ${sums.join('; ')}.` };
}

function strangerFault({ file, account, lines }: Statement): FileFault {
  const name = account.iban ?? account.other;
  const text =
    name === undefined
      ? 'The statement does not name its account.'
      : `The account ${name} is in no bank_transfer method of the configuration. If it is yours, add it under methods.`;
  return { file, line: lines[0]?.at ?? 0, text };
}

/**
 * Imports a file that was checked. Returns what came of each statement; undefined if something is wrong with the file and
 * `despiteFaults` is not set: then nothing is imported. Throws as `Journal.commit` does.
 */
export async function importFile(
  journal: Journal,
  { statements, faults, confirmed = [] }: Omit<CheckedFile, 'notes'>,
  act: Act,
  { despiteFaults, dryRun }: ImportOptions,
): Promise<Imported[] | undefined> {
  if (faults.length > 0 && !despiteFaults) return undefined;
  const rememberLayouts = async (transaction: Transaction) => {
    for (const layout of confirmed) await rememberLayout(transaction, layout, act);
  };
  if (dryRun) {
    let imported: Imported[] = [];
    await journal.rehearse(async (transaction) => {
      await rememberLayouts(transaction);
      imported = await importStatements(transaction, statements, act);
    }, REHEARSAL_MS);
    return imported;
  }
  let isFirst = true;
  // Another node imported the same money a moment ago: it is known now.
  const commit = async <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => {
    const whole = async (transaction: Transaction) => {
      if (isFirst) await rememberLayouts(transaction);
      return work(transaction);
    };
    const committed = await journal.commit(whole).catch((error) => {
      if (error instanceof DatabaseError && error.failure === 'conflict') return journal.commit(whole);
      throw error;
    });
    isFirst = false;
    return committed;
  };
  return importInTurns(commit, statements, act);
}
