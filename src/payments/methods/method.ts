// A way to pay, as checkout sees it: what it asks, what it tells the customer to do, and which payments it fits.
import type { Mode } from '../../merchants/merchant.ts';
import type { FieldUse } from './fields.ts';
import type { Account } from './transfer/quick-pay.ts';

export type MethodType = 'bank_transfer' | 'manual' | 'details' | 'test_card';

/** What a method needs to know of a payment. */
export interface Payable {
  id: string;
  salt: string;
  mode: Mode;
  /** Hundredths of the currency. */
  amount_minor: number;
  currency: string;
  merchant_reference: string | null;
}

/**
 * What the customer is told to do. It is stored with the submission, so that the customer goes on seeing the account they were shown,
 * whatever the configuration says by then.
 */
export type Instructions =
  | { kind: 'transfer'; account: Account; reference: string }
  | { kind: 'text'; text: string };

/** One way to pay. A further one is a further module that makes such a value; checkout asks and shows what it says here. */
export interface Method {
  /** Names it in addresses, in the configuration and in the history. */
  id: string;
  type: MethodType;
  /** What the configuration calls it; undefined where checkout's own words for its type serve. */
  name: string | null;
  /** What the customer is asked, in this order. */
  fields: readonly FieldUse[];
  fits(payment: Payable): boolean;
  instructions(payment: Payable): Instructions | null;
}

/** A method as the configuration has it, checked. */
export interface MethodSettings {
  id: string;
  type: MethodType;
  name: string | null;
  instructions: string | null;
  currencies: readonly string[] | null;
  accounts: readonly Account[];
}
