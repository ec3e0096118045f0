// Erases what the bank wrote on lines, and rules about payers: with the payment, or when they are old; the proof stays.

import { type Act, newSalt } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { changeRow, isAsRecorded } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import type { Logger } from '../lib/log.ts';
import { inSequence, Rounds } from '../lib/rounds.ts';
import { searchedName } from '../lib/search-terms.ts';
import { type Clock, DAY_MS, dateIn, HOUR_MS } from '../lib/time.ts';
import { customerOf } from '../payments/payment.ts';
import { findPayment } from '../payments/queries.ts';
import { type KeptLine, type KeptRule, LINES, RULES } from './kept.ts';
import { linesOfPayments, oldLines, oldRules, rulesAbout, wholeOf } from './line-queries.ts';
import { knownBy } from './rules.ts';

/** Lines erased in one commit. */
const AT_ONCE = 200;

/** Erases the lines that are the money of a payment; returns how many. Throws `DatabaseError`. */
export async function eraseLinesOf(transaction: Transaction, paymentId: string, act: Act): Promise<number> {
  const lines = await linesOfPayments(transaction, [paymentId]);
  // A line that was split says what its parts say.
  const wholes = new Map<string, KeptLine>();
  for (const line of lines) {
    const whole = await wholeOf(transaction, line);
    if (whole?.details) wholes.set(whole.id, whole);
  }
  const all = [...lines, ...wholes.values()];
  await eraseRulesAbout(
    transaction,
    all.flatMap((line) => knownBy(line) ?? []),
    act,
  );
  return eraseLines(transaction, all, act);
}

/** Erases rules about the payer and the customer of a payment. Call it before the payment is erased. Throws `DatabaseError`. */
export async function eraseRulesOf(transaction: Transaction, paymentId: string, act: Act): Promise<void> {
  const payment = await findPayment(transaction, paymentId);
  if (!payment) return;
  const { payer_name, payer_account } = payment;
  const names = [payer_name ?? '', searchedName(customerOf(payment).name ?? '')];
  const people = names.map((name_key) => ({ name_key, other_account: payer_account ?? '' }));
  await eraseRulesAbout(transaction, people, act);
}

/** Erases rules that ended before a moment, at most 200; returns how many. Throws `DatabaseError`. */
const eraseOldRules = async (transaction: Transaction, before: number): Promise<number> =>
  eraseRules(transaction, await oldRules(transaction, before, AT_ONCE), { actor: 'clock', request_id: null });

async function eraseRulesAbout(
  transaction: Transaction,
  people: readonly Pick<KeptRule, 'name_key' | 'other_account'>[],
  act: Act,
): Promise<void> {
  const rules = new Map<string, KeptRule>();
  for (const { name_key, other_account } of people)
    for (const rule of await rulesAbout(transaction, name_key, other_account)) rules.set(rule.id, rule);
  await eraseRules(transaction, [...rules.values()], act);
}

/** Erases what rules say, and ends them. */
async function eraseRules(transaction: Transaction, rules: readonly KeptRule[], act: Act): Promise<number> {
  const gone = { name_key: '', other_account: '', name: '', reason: '', state: 'ended' } as const;
  let erased = 0;
  for (const rule of rules) {
    if (!(await isAsRecorded(transaction, RULES, rule))) continue;
    const written = { ...gone, salt: newSalt(), updated_at: transaction.now };
    if (await changeRow(transaction, act, 'line_rule.erased', RULES, rule, written)) erased += 1;
  }
  return erased;
}

/**
 * Erases lines of days before `day` (YYYY-MM-DD), at most 200; returns how many. Those that were changed in the store itself are
 * left: their entry would make the change good. Throws `DatabaseError`.
 */
export async function eraseOldLines(transaction: Transaction, day: string): Promise<number> {
  const act = { actor: 'clock', request_id: null };
  return eraseLines(transaction, await oldLines(transaction, day, AT_ONCE), act);
}

async function eraseLines(transaction: Transaction, lines: readonly KeptLine[], act: Act): Promise<number> {
  let erased = 0;
  for (const line of lines) {
    if (!(await isAsRecorded(transaction, LINES, line))) continue;
    const written = { details: null, note: null, salt: newSalt(), updated_at: transaction.now };
    if (await changeRow(transaction, act, 'line.erased', LINES, line, written)) erased += 1;
  }
  return erased;
}

/**
 * Erases what lines of more than `keepDays` days ago say, and rules that ended as long ago. Returns how many those were. Throws as
 * `Journal.commit` does.
 */
export async function forgetOldLines(journal: Journal, clock: Clock, keepDays: number): Promise<number> {
  const before = clock.now() - keepDays * DAY_MS;
  const day = dateIn('UTC', before);
  let all = 0;
  for (let erased = -1; erased !== 0; all += erased)
    erased = await journal.commitAside(
      async (transaction) =>
        (await eraseOldLines(transaction, day)) + (await eraseOldRules(transaction, before)),
    );
  return all;
}

/** Erases old lines at once and every hour until stopped; never if `keepDays` is null. */
export function startForgetting(
  journal: Journal,
  clock: Clock,
  log: Logger,
  keepDays: number | null,
): Pick<Rounds, 'stop'> {
  const forget = async () => void (keepDays !== null && (await forgetOldLines(journal, clock, keepDays)));
  const rounds = new Rounds(inSequence(forget, log, 'old statement lines are erased later'), HOUR_MS);
  if (keepDays !== null) rounds.start();
  return rounds;
}
