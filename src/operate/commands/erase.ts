// counterfoil erase: takes personal data out of payments nothing more can come of, for good; the history goes on verifying.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Act } from '../../journal/audit-entry.ts';
import { Journal } from '../../journal/journal.ts';
import { countRows } from '../../journal/queries.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { OperationalError } from '../../lib/errors.ts';
import { asClause, counted } from '../../lib/text.ts';
import { systemClock } from '../../lib/time.ts';
import { removeLettersAbout } from '../../mail/queries.ts';
import { erasePayment, findByEmail } from '../../payments/erase.ts';
import { eraseLinesOf, eraseRulesOf } from '../../statements/erase.ts';
import { type Database, DatabaseError } from '../../store/database.ts';
import { holdStore, SQLITE_FILE } from '../../store/open.ts';
import { dropTraces, overwriteDeleted } from '../../store/sqlite-copy.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { openFenced, requireSchema, requireStore, type StoreOptions } from './store.ts';
import { atEnd, confirm, Failure, type Progress, print, shownPath, withProgressBar } from './terminal.ts';
import { newCommand, parseEmail, parseId } from './usage.ts';

/** Payments erased at a time; a server on the same PostgreSQL gets its turn between. */
const BATCH = 100;
const WRITE_AHEAD_LOG = `${SQLITE_FILE}-wal`;

interface EraseOptions extends StoreOptions {
  payment?: string;
  email?: string;
  yes?: boolean;
}

interface Erasure {
  erased: number;
  kept_answers: number;
  /** Why each of the others was left as it is. */
  left: string[];
}

export function command(): Command {
  return newCommand(
    'erase',
    'erase the personal data of payments that are approved, rejected or cancelled, for good',
    ['erase --payment pay_01m7xy90z59x4m4bthzeq11xez7gvadtw35y', 'erase --email ada@example.org --yes'],
    `On PostgreSQL the server may go on; with SQLite stop it first. What is erased and what stays: docs/erasure.md.`,
  )
    .option('--payment <id>', 'this payment: pay_…', parseId('pay_', 'counterfoil payments show'))
    .option(
      '--email <address>',
      'every payment whose customer has this e-mail address; asks first',
      parseEmail,
    )
    .option('--yes', 'do not ask')
    .action(erase);
}

async function erase(options: EraseOptions, command: Command): Promise<void> {
  const { payment, email, json } = options;
  if ((payment === undefined) === (email === undefined))
    command.error('error: name either a payment (--payment) or an e-mail address (--email)');
  const configuration = readConfiguration(configurationFile(options.config));
  requireStore(configuration);
  await using _held = atEnd(hold(configuration));
  const [found, result] = await eraseFound(configuration, options);
  if (payment !== undefined && result.left[0]) throw new Failure(result.left[0]);
  const isNone = email !== undefined && found === 0;
  print(
    { json },
    {
      json: result,
      text: isNone ? 'Nothing is erased: no payment has this e-mail address.' : told(result, configuration),
      hasFailed: result.left.length > 0,
    },
  );
  if (!isStillOpen(configuration)) return;
  console.error(
    'counterfoil: another program has the store open: traces stay in its files until that has ended and the server has started and stopped once',
  );
  process.exitCode = 1;
}

/** Returns how many payments were found, and what became of them. The store is closed by then. */
async function eraseFound(
  configuration: Configuration,
  { payment, email, yes }: EraseOptions,
): Promise<[found: number, result: Erasure]> {
  const database = await openFenced(configuration);
  await using _opened = atEnd(() => database.close());
  await requireSchema(database, configuration);
  const found = payment === undefined ? await search(database, email!) : [payment];
  if (email !== undefined && found.length > 0 && !yes)
    await confirm(
      `${counted(found.length, 'payment')} ${found.length === 1 ? 'has' : 'have'} this e-mail address`,
      {
        question: 'Erase their personal data for good?',
        orElse: 'add --yes to erase their personal data for good',
        none: 'nothing was erased',
      },
    );
  return [
    found.length,
    await withProgressBar('erasing', (onProgress) => eraseAll(database, found, onProgress)),
  ];
}

/** Keeps a server off a SQLite store: it reads as one that alone writes. Throws `Failure` where one is running. */
function hold(configuration: Configuration): () => void {
  if (configuration.database_url !== null) return () => {};
  try {
    return holdStore(configuration);
  } catch (error) {
    if (!(error instanceof DatabaseError && /^another server holds/.test(error.message))) throw error;
    throw new Failure(
      `a server is running on ${shownPath(configuration.storage)}: stop it, erase, and start it again (on PostgreSQL it may go on)`,
    );
  }
}

async function search(database: Database, email: string): Promise<string[]> {
  const total = await countRows(database, 'payments');
  return withProgressBar('searching', (onProgress) =>
    findByEmail(database, email, (done) => onProgress(done, total)),
  );
}

/** Erases payment by payment, each in an entry of its own. Throws `Failure` where the store gives out on the way. */
async function eraseAll(database: Database, ids: readonly string[], onProgress: Progress): Promise<Erasure> {
  const result: Erasure = { erased: 0, kept_answers: 0, left: [] };
  const journal = new Journal(database, systemClock);
  const act = { actor: 'operator', request_id: null };
  try {
    await overwriteDeleted(database);
    for (let done = 0; done < ids.length; done += BATCH) {
      const works = ids
        .slice(done, done + BATCH)
        .map((id) => journal.commit((transaction) => eraseWhole(transaction, id, act), id));
      for (const [i, outcome] of (await Promise.allSettled(works)).entries()) {
        if (outcome.status === 'fulfilled') {
          result.erased++;
          result.kept_answers += outcome.value;
        } else {
          result.left.push(reasonOf(outcome.reason, ids[done + i]!));
        }
      }
      onProgress(done, ids.length);
    }
    if (result.erased > 0) await dropTraces(database);
  } catch (error) {
    const reason = error instanceof DatabaseError ? error : ((error as Error).cause as Error);
    if (!(reason instanceof DatabaseError)) throw error;
    throw new Failure(
      `${counted(result.erased, 'payment')} erased, then the store gave out (${reason.message}), and its files may hold traces: run it again`,
    );
  } finally {
    await journal.close();
  }
  return result;
}

/**
 * Erases a payment, what the bank wrote on its money, and its letters: the words of a mail server may name who they went to. Returns how
 * many stored responses were deleted. Throws as `erasePayment` does.
 */
export async function eraseWhole(transaction: Transaction, id: string, act: Act): Promise<number> {
  await eraseRulesOf(transaction, id, act);
  const answers = await erasePayment(transaction, id, act);
  await eraseLinesOf(transaction, id, act);
  await removeLettersAbout(transaction, [id]);
  return answers;
}

/** Why a payment was left as it is; what is no such reason is raised again. */
function reasonOf(error: unknown, id: string): string {
  if (!(error instanceof OperationalError) || error.code === 'unavailable') throw error;
  if (error.code === 'not_found')
    return `there is no payment ${id}; counterfoil payments show finds one by its reference`;
  return asClause(error.message);
}

/** Whether another reader kept SQLite from checkpointing its log, and so from overwriting the erased text. */
function isStillOpen({ storage, database_url }: Configuration): boolean {
  return !database_url && statSync(join(storage, WRITE_AHEAD_LOG), { throwIfNoEntry: false }) !== undefined;
}

function told({ erased, kept_answers, left }: Erasure, { database_url }: Configuration): string {
  const lines = [`Erased: ${counted(erased, 'payment')}, ${counted(kept_answers, 'stored response')}.`];
  if (database_url && erased > 0)
    lines.push('PostgreSQL keeps traces until VACUUM FULL payments, idempotency_keys: docs/erasure.md.');
  return [...lines, ...left.map((reason) => `Left as it is: ${reason}.`)].join('\n');
}
