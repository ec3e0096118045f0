// Rules of the bookkeeper's own: lines of a name and an account that are ignored when they come in, until the rule is ended.

import type { Principal } from '../administrators/administrator.ts';
import { requireStanding } from '../administrators/standing.ts';
import { newSalt } from '../journal/audit-entry.ts';
import { changeRow, recordNewRow, thoseAsRecorded } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { timeOrderedId } from '../lib/ids.ts';
import { phrase, spoken } from '../lib/phrases.ts';
import { searchedName } from '../lib/search-terms.ts';
import { rowWithId } from '../store/table.ts';
import { type KeptLine, type KeptRule, LINES, RULE_ID_PREFIX, RULES, saidOn, writeLine } from './kept.ts';
import { activeRules, listLines } from './line-queries.ts';
import { bankLine, referencesOn } from './matching/line-evidence.ts';

/** Rules that count at once. */
const RULES_MAXIMUM = 500;
/** Maximum number of open lines, newest first, that a new rule is applied to. */
const LOOKED_AT = 1000;

/** What a rule knows lines by. */
type Known = Pick<KeptRule, 'direction' | 'name_key' | 'other_account'>;

/** The name and account that a rule about a line would match. Undefined for a line without both. */
export function knownBy(line: KeptLine): Known | undefined {
  const { counterparty } = saidOn(line);
  const known = {
    direction: line.direction,
    name_key: searchedName(counterparty.name ?? ''),
    other_account: counterparty.account ?? '',
  };
  return known.name_key === '' && known.other_account === '' ? undefined : known;
}

/** The rule that ignores a line; undefined if none does. A line that carries the reference of a payment is never ignored by a rule. */
export function ruleFor(rules: readonly KeptRule[], line: KeptLine): KeptRule | undefined {
  if (rules.length === 0 || !line.booked) return undefined;
  const known = knownBy(line);
  const rule =
    known &&
    rules.find(
      ({ direction, name_key, other_account }) =>
        direction === known.direction && name_key === known.name_key && other_account === known.other_account,
    );
  return rule && referencesOn(bankLine(line), []).length === 0 ? rule : undefined;
}

/**
 * Makes a rule of a line: lines like it are ignored from now on, and so are those that are open, the newest 1,000 of which are looked at.
 * Returns how many were ignored. Throws `validation_failed` for a line without a name and an account, `invalid_status` if there are too
 * many rules, `conflict` if a line is changed at the same moment, and `DatabaseError`.
 */
export async function makeRule(
  transaction: Transaction,
  principal: Principal,
  line: KeptLine,
  reason: string,
): Promise<number> {
  await requireStanding(transaction, principal, 'decide');
  const known = knownBy(line);
  if (!known)
    throw new OperationalError(
      'validation_failed',
      phrase('The line names nobody that a rule could know it by.'),
    );
  const rules = await activeRules(transaction);
  if (rules.length >= RULES_MAXIMUM)
    throw new OperationalError(
      'invalid_status',
      spoken((say) => say`There are ${RULES_MAXIMUM} rules. End one that is not needed.`),
    );
  const { now } = transaction;
  const rule: KeptRule = {
    id: timeOrderedId(RULE_ID_PREFIX, now),
    ...known,
    name: saidOn(line).counterparty.name ?? '',
    reason,
    state: 'active',
    salt: newSalt(),
    version: 1,
    created_at: now,
    updated_at: now,
  };
  await transaction.insertNow(RULES, rule);
  recordNewRow(transaction, principal, 'line_rule.made', RULES, rule);
  const open = await listLines(
    transaction,
    { state: 'open', direction: known.direction },
    undefined,
    LOOKED_AT,
  );
  const meant = (await thoseAsRecorded(transaction, LINES, open)).filter((one) => ruleFor([rule], one));
  const refusal = phrase('A line was changed a moment ago. Try again.');
  const told = { facts: { rule: rule.id }, refusal };
  for (const one of meant)
    await writeLine(transaction, principal, 'line.ignored', one, ignoredBy(rule), told);
  return meant.length;
}

/** What a rule writes on a line. */
export const ignoredBy = ({ reason }: KeptRule) => ({ state: 'ignored', note: reason }) as const;

/** Ends a rule. Lines that it ignored stay ignored. Throws `not_found` for one that is not there or ended, `conflict`, `DatabaseError`. */
export async function endRule(transaction: Transaction, principal: Principal, id: string): Promise<void> {
  await requireStanding(transaction, principal, 'decide');
  const rule = await rowWithId(transaction, RULES, id);
  if (rule?.state !== 'active')
    throw new OperationalError('not_found', 'There is no such rule, or it was ended.');
  const written = { state: 'ended', updated_at: transaction.now } as const;
  if (!(await changeRow(transaction, principal, 'line_rule.ended', RULES, rule, written)))
    throw new OperationalError('conflict', phrase('The rule was changed a moment ago. Look at it again.'));
}
