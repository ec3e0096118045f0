// A fact about a payment that helps to decide, as it is shown.

import { formatAmount } from '../lib/money.ts';
import type { Say } from '../lib/phrases.ts';
import type { Payment } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';

export interface Fact {
  kind:
    | 'test_mode'
    | 'merchant_suspended'
    | 'money_received'
    | 'on_statement'
    | 'same_email'
    | 'same_account'
    | 'same_reference'
    | 'amount'
    | 'payer_name'
    | 'link_requested'
    | 'announced';
  /** `notice`: worth a second look. */
  tone: 'plain' | 'notice';
  /** A sentence. Holds what customers typed: to be escaped. */
  text: string;
  /** What it rests on, a sentence. */
  basis: string;
  /** The ids of the payments it speaks of, newest first, a few at most. */
  payments?: string[];
}

/** Writes an amount in minor units. */
export type WriteMoney = (minor: number, currency: string) => string;

/** `EUR 49.90`, for programs and commands. */
export const plainMoney: WriteMoney = (minor, currency) => `${currency} ${formatAmount(minor)}`;

/** Finds a fact that another room knows; undefined where it knows none. Throws `DatabaseError`. */
export type FactSource = (
  database: Reader,
  payment: Payment,
  money: WriteMoney,
  say: Say,
) => Promise<Fact | undefined>;

/** A line of a bank statement that was matched with a payment. */
export interface SeenLine {
  id: string;
  /** Minor units; less than 0 if the money went back. */
  amount_minor: number;
  /** `2026-11-20`; '' if the line has none. */
  day: string;
  /** What the payer wrote. */
  reference: string;
  /** The payer, as the bank names them. */
  name: string | undefined;
  account: string | undefined;
}
