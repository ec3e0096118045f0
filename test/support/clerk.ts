// Reviewers who act on the bank lines of a test, each at a node: straight through the room, as the buttons of the console do.
import type { Journal } from '../../src/journal/journal.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import { claim } from '../../src/review/act.ts';
import { approve, reject } from '../../src/review/decide.ts';
import { recordMoney } from '../../src/review/record-money.ts';
import { approveCertain } from '../../src/statements/matching/certain-acts.ts';
import { acceptLine, approveLine, ignoreLine, reopenLine } from '../../src/statements/matching/line-acts.ts';
import { acceptParts, reopenParts } from '../../src/statements/matching/line-parts.ts';
import type { certainPairs } from '../../src/statements/matching/open-lines.ts';
import { endRule, makeRule } from '../../src/statements/rules.ts';
import type { Bank } from './bank.ts';
import { ANA } from './reviewers.ts';

/** A payment as somebody looked at it. */
export interface Seen {
  id: string;
  version: number;
}
/** What of a line is a payment's money: all that it asks for, or a sum in minor units. */
export type Part = Seen & { minor?: number };
/** Pairs that a page showed as certain. */
export type Certain = ReturnType<typeof certainPairs>;
type Limits = Parameters<typeof approveCertain>[4];

const REMARKS = { bank_reference: null, note: null, version: null };
const pairOf = (line_id: string, { id, version }: Seen) => ({ line_id, payment_id: id, version });

export class Clerk {
  readonly #bank: Bank;
  readonly #principal: typeof ANA;
  readonly #journal: Journal | undefined;

  constructor(bank: Bank, principal = ANA, journal?: Journal) {
    this.#bank = bank;
    this.#principal = principal;
    this.#journal = journal;
  }

  #commit<T>(work: (transaction: Transaction) => Promise<T>, row = ''): Promise<T> {
    return this.#journal ? this.#journal.commit(work, row) : this.#bank.commit(work, row);
  }

  /** Says that a line is the money of a payment; where only the amount of money by hand is the same, `as` says which it is. */
  match(line: string, payment: Seen, as?: 'same' | 'besides') {
    const pair = { ...pairOf(line, payment), as };
    return this.#commit((one) => acceptLine(one, this.#principal, pair), payment.id);
  }

  /** Approves a payment for a line. */
  approve(line: string, payment: Seen, note?: string) {
    const pair = pairOf(line, payment);
    return this.#commit((one) => approveLine(one, this.#principal, pair, {}, note), payment.id);
  }

  /** Approves pairs of lines and payments as far as they are among those that are `certain`. */
  approveCertain(pairs: readonly [line: string, payment: Seen][], certain: Certain, limits: Limits = {}) {
    const all = pairs.map(([line, payment]) => pairOf(line, payment));
    return this.#commit((one) => approveCertain(one, this.#principal, all, certain, limits));
  }

  ignore(line: string, reason: string) {
    return this.#commit((one) => ignoreLine(one, this.#principal, line, reason));
  }

  /** Takes back that a line is matched or ignored. */
  reopen(line: string) {
    return this.#commit((one) => reopenLine(one, this.#principal, line));
  }

  /** Says that a line is the money of several payments; `charges` says where the rest of what they come to went. */
  split(line: string, parts: readonly Part[], charges?: string) {
    const all = parts.map(({ id, version, minor }) => ({ payment_id: id, version, amount_minor: minor }));
    return this.#commit((one) => acceptParts(one, this.#principal, line, all, charges));
  }

  /** Takes back that a line is split. */
  join(line: string) {
    return this.#commit((one) => reopenParts(one, this.#principal, line));
  }

  claim({ id }: Pick<Seen, 'id'>) {
    return this.#commit((one) => claim(one, this.#principal, id, {}), id);
  }

  /** Decides on a payment that is under review, where it was not changed since `version`. */
  decide(
    { id, version = null }: { id: string; version?: number | null },
    move: 'approve' | 'reject',
    limits: Limits = {},
  ) {
    return this.#commit<unknown>(
      (one) =>
        move === 'approve'
          ? approve(one, this.#principal, id, { ...REMARKS, version }, limits)
          : reject(one, this.#principal, id, { ...REMARKS, version, reason: 'other', message: null }),
      id,
    );
  }

  /** Records money that came besides all that is known, in minor units. */
  record({ id }: Pick<Seen, 'id'>, amount_minor: number) {
    const money = { ...REMARKS, amount_minor, received_on: '2026-11-20', as: 'besides' as const };
    return this.#commit((one) => recordMoney(one, this.#principal, id, money), id);
  }

  /** Has lines of who paid this one ignored from now on. */
  async makeRule(line: string, reason: string) {
    const kept = await this.#bank.line(line);
    return this.#commit((one) => makeRule(one, this.#principal, kept, reason));
  }

  endRule(id: string) {
    return this.#commit((one) => endRule(one, this.#principal, id));
  }
}
