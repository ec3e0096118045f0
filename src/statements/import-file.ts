// Imports one file: reads it, says what is wrong with it, and commits what is right as one transaction.
import { setTimeout as delay } from 'node:timers/promises';
import { electronicFormatIBAN, isValidIBAN } from 'ibantools';
import {
  type CsvLayout,
  type CsvSeen,
  type ReadOptions,
  type ReadStatements,
  type RememberedLayout,
  type Statement,
  type StatementAccount,
  type StatementFault,
  signedAmount,
} from '#bank-statements';
import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { counted } from '../lib/text.ts';
import { monotonicMs, SECOND_MS } from '../lib/time.ts';
import type { MethodSettings } from '../payments/methods/settings.ts';
import { DatabaseError } from '../store/database.ts';
import {
  type Imported,
  type ImportTurns,
  importInTurns,
  importStatements,
  lineCount,
  type OwnStatement,
} from './import.ts';
import { isOneAccount, namedAccount, ownAccount, rememberLayout } from './remembered.ts';
import { type LineParts, type ToldLines, toldLines } from './told-lines.ts';

/** A fault with the name of its file. */
export type FileFault = StatementFault & { file: string };

/** A fault in one line: `november.xml:12: The day 2026-11-31 does not exist.` */
export const faultLine = ({ file, line, text, warning }: FileFault): string =>
  `${line > 0 ? `${file}:${line}` : file}: ${warning ? 'warning: ' : ''}${text}`;

/** What was wrong with a file that was imported: its faults, and the notes that want a look. */
export const doubtsOf = ({ faults, notes }: Pick<CheckedFile, 'faults' | 'notes'>): FileFault[] => [
  ...faults,
  ...notes.filter(({ warning }) => warning),
];

/** What a file holds that may be imported, and what is wrong with the rest. */
export interface CheckedFile {
  statements: OwnStatement[];
  faults: FileFault[];
  /** What a person should know although nothing is wrong. */
  notes: FileFault[];
  /** Layouts of CSV files that the bookkeeper confirmed: they are kept with the import. */
  confirmed?: RememberedLayout[];
  /** The lines of the statements, where those of a large file are read apart. */
  parts?: LineParts;
}

/** What was read: of a large file without its lines. */
type Read = ReadStatements & { told?: readonly ToldLines[]; parts?: LineParts };

interface ImportOptions {
  /** Imports what is right although something is not. */
  despiteFaults: boolean;
  /** Rolls everything back. */
  dryRun: boolean;
  /** See `ImportTurns`. */
  onTurn?: NonNullable<ImportTurns['onTurn']>;
}

/** Of the time in which others write, an import in several commits takes a third. */
const REST = 2;
/** How long one commit of an import is tried while the store takes no writes. */
const PATIENCE_MS = 60 * SECOND_MS;

/** Gives others their turn: waits after a commit twice as long as it took, if others wrote since the one before. */
function restBeside(journal: Journal): () => Promise<void> {
  let newest: number | undefined;
  let begun = monotonicMs();
  return async () => {
    const took = monotonicMs() - begun;
    const { number } = (await journal.newestSeal()) ?? { number: 0 };
    if (newest !== undefined && number > newest + 1) await delay(REST * took);
    newest = number;
    begun = monotonicMs();
  };
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
        statements.flatMap((one) => (one.statement.file === file && lineCount(one) > 0 ? one.own : [])),
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
  { statements, faults, notes = [], csv = [], told = statements.map(toldLines), parts }: Read,
  methods: readonly Pick<MethodSettings, 'accounts'>[],
  isConfirmed = false,
  said: AccountSaid = {},
): CheckedFile {
  const unseen = isConfirmed ? [] : csv.filter(isUnseen);
  const isSeen = (file: string) => !unseen.some((one) => one.file === file);
  const ours = statements.map((statement, place) => ({
    ...{ own: ownOf(statement, methods, said), statement, told: told[place]!, place },
  }));
  const at = (statement: Statement) => told[statements.indexOf(statement)]?.first?.at ?? 0;
  return {
    ...(parts && { parts }),
    confirmed: ours.flatMap(({ own, statement }) => {
      const account = namedAccount(statement.account);
      return own !== undefined && account.other !== undefined && ownAccount(account, methods) === undefined
        ? { account: own, shape: spelling(account.other), layout: {} as CsvLayout }
        : [];
    }),
    statements: ours.filter(
      (one): one is typeof one & OwnStatement => one.own !== undefined && isSeen(one.statement.file),
    ),
    faults: [
      ...faults,
      ...unseen.map((one) => unseenFault(one, ours)),
      ...statements.flatMap(({ file, faults }) => faults.map((fault) => ({ file, ...fault }))),
      ...ours
        .filter(({ own }) => own === undefined)
        .map(({ statement }) => ({ ...strangerFault(statement, methods, said), line: at(statement) })),
      ...gapFaults(statements, at),
    ],
    notes: [
      ...notes,
      ...statements.flatMap(({ file, notes = [] }) => notes.map((note) => ({ file, ...note }))),
    ],
  };
}

const UNSEEN =
  'This CSV file is of no export that is known by its columns, so look how it is read before it is imported: in the console, or by counterfoil statements import, which shows it and takes --confirm.';

function unseenFault(
  { file, headerLine = 0 }: CsvSeen,
  statements: readonly { statement: Statement; told: ToldLines }[],
): FileFault {
  const sums = statements
    .filter(({ statement }) => statement.file === file)
    .map(({ statement, told }) => {
      const { lines, creditMinor, debitMinor } = told.overview;
      const money = `${signedAmount(creditMinor)} in and ${signedAmount(debitMinor)} out`;
      return `${counted(lines, 'line')}, ${money} ${statement.account.currency ?? ''}`.trim();
    });
  return { file, line: headerLine, text: `${UNSEEN} As it is read: ${sums.join('; ')}.` };
}

/** What the bookkeeper says of the account of a file: now, and before about accounts that the bank spells in its own way. */
type AccountSaid = Pick<ReadOptions, 'account' | 'remembered'>;

/** What a spelling of an account is remembered by, beside the layouts of CSV files. */
const spelling = (other: string) => `account ${other}`;

/** An account as a person names it. */
function saidAccount(text: string): StatementAccount {
  const iban = electronicFormatIBAN(text);
  return iban !== null && isValidIBAN(iban) ? { iban } : { other: text };
}

/**
 * The own account of a statement. What was said of it counts where the bank names no IBAN; undefined if the bank names another account.
 */
function ownOf(
  statement: Statement,
  methods: readonly Pick<MethodSettings, 'accounts'>[],
  { account: chosen, remembered = [] }: AccountSaid,
): string | undefined {
  const account = namedAccount(statement.account);
  const own = ownAccount(account, methods);
  const isSaid = chosen === undefined || isOneAccount(account, saidAccount(chosen), methods);
  if (own !== undefined || account.iban !== undefined) return isSaid ? own : undefined;
  const before = remembered.find(({ shape }) => shape === spelling(account.other ?? ''))?.account;
  const named = chosen ?? before;
  return named === undefined ? undefined : ownAccount(saidAccount(named), methods);
}

function strangerFault(
  { file, account: written }: Statement,
  methods: readonly Pick<MethodSettings, 'accounts'>[],
  { account: chosen }: AccountSaid,
): Omit<FileFault, 'line'> {
  const account = namedAccount(written);
  const name = account.iban ?? account.other;
  const isAnother =
    chosen !== undefined &&
    (ownAccount(account, methods) !== undefined ||
      (account.iban !== undefined && electronicFormatIBAN(chosen) !== account.iban));
  const text =
    name === undefined
      ? 'The statement does not name its account.'
      : isAnother
        ? `The statement is of the account ${name}, which is not ${chosen}.`
        : chosen !== undefined
          ? `The account ${chosen} is in no bank_transfer method of the configuration. If it is yours, add it under methods.`
          : `The account ${name} is in no bank_transfer method of the configuration. If it is yours, add it under methods${account.iban === undefined ? ', or say with --account once which of them it is' : ''}.`;
  return { file, text };
}

/**
 * Imports a file that was checked. Returns what came of each statement; undefined if something is wrong with the file and
 * `despiteFaults` is not set: then nothing is imported. The notes of `checked` get those about money that no line shows. Throws as
 * `Journal.commit` does.
 */
export async function importFile(
  journal: Journal,
  checked: Omit<CheckedFile, 'notes'> & { notes?: FileFault[] },
  act: Act,
  options: ImportOptions,
): Promise<Imported[] | undefined> {
  if (checked.faults.length > 0 && !options.despiteFaults) return undefined;
  const imported = await importChecked(journal, checked, act, options);
  for (const { missing, statement } of imported)
    if (missing !== undefined)
      checked.notes?.push({ file: statement.file, line: 0, text: missing, warning: true });
  return imported;
}

async function importChecked(
  journal: Journal,
  { statements, confirmed = [], parts }: Omit<CheckedFile, 'notes'>,
  act: Act,
  { dryRun, onTurn }: ImportOptions,
): Promise<Imported[]> {
  const rememberLayouts = async (transaction: Transaction) => {
    for (const layout of confirmed) await rememberLayout(transaction, layout, act);
  };
  if (dryRun) {
    let imported: Imported[] = [];
    if (parts) await addLines(statements, parts);
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
    const committed = await committedAtLast(journal, whole, isFirst ? 0 : PATIENCE_MS);
    isFirst = false;
    return committed;
  };
  const lines = statements.reduce((sum, one) => sum + lineCount(one), 0);
  const rest = lines > MANY_LINES ? restBeside(journal) : undefined;
  return importInTurns(commit, { statements, parts }, act, {
    ...(onTurn && { onTurn }),
    ...(rest && { rest }),
  });
}

/** Reads the lines of all statements: a rehearsal is one transaction. */
async function addLines(statements: readonly OwnStatement[], parts: LineParts): Promise<void> {
  for await (const { place, lines } of parts())
    statements.find((one) => one.place === place)?.statement.lines.push(...lines);
}

/** Lines of a file that others have to wait for. */
const MANY_LINES = 1000;

/**
 * Commits a work, again if another node imported the same money a moment ago, and for `patienceMs` where the store takes no writes: what
 * was begun is not given up, and a work that is done twice adds nothing. Throws as `Journal.commit` does.
 */
async function committedAtLast<T>(
  journal: Journal,
  work: (transaction: Transaction) => Promise<T>,
  patienceMs: number,
): Promise<T> {
  const until = monotonicMs() + patienceMs;
  for (let conflicts = 0; ; ) {
    try {
      return await journal.commit(work);
    } catch (error) {
      const isConflict = error instanceof DatabaseError && error.failure === 'conflict';
      const isUnavailable = error instanceof OperationalError && error.code === 'unavailable';
      if (isConflict ? ++conflicts > 1 : !isUnavailable || monotonicMs() > until) throw error;
      if (isUnavailable) await delay(SECOND_MS);
    }
  }
}

/** `34` and `34/1`. Five digits are what SWIFT allows. What is longer is a name and counts nothing. */
const NUMBER = /^(\d{1,5})(?:\/\d{1,5})?$/;

/**
 * Returns a fault for each gap between the numbers of two statements that follow one another in time. Only booked statements
 * (camt.053, mt940) with a number and a day are compared. A number that is not above the one before begins a new count, as at a new year.
 * `at`: the line of a statement's first entry.
 */
export function gapFaults(
  statements: readonly Statement[],
  at: (statement: Statement) => number = ({ lines }) => lines[0]?.at ?? 0,
): (StatementFault & { file: string })[] {
  const accounts = Map.groupBy(
    statements.filter((one) => numberOf(one) !== undefined && dayOf(one) !== ''),
    ({ format, account }) =>
      JSON.stringify([format, account.iban ?? account.other ?? '', account.currency ?? '']),
  );
  return [...accounts.values()].flatMap((ofAccount) => {
    const inOrder = ofAccount.toSorted(
      (a, b) => dayOf(a).localeCompare(dayOf(b)) || numberOf(a)! - numberOf(b)!,
    );
    return inOrder.slice(1).flatMap((statement, index) => {
      const [before, number] = [numberOf(inOrder[index]!)!, numberOf(statement)!];
      if (number <= before + 1) return [];
      const missing = number - before === 2 ? `${before + 1}` : `${before + 1} to ${number - 1}`;
      const text = `Statement ${missing} of this account is not among the files: ${before} is followed by ${number}.`;
      return [{ file: statement.file, line: at(statement), text }];
    });
  });
}

function numberOf({ format, number }: Statement): number | undefined {
  const digits = format === 'camt.053' || format === 'mt940' ? NUMBER.exec(number ?? '')?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}

function dayOf({ from, to }: Statement): string {
  return to ?? from ?? '';
}
