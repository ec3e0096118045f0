// A way to pay, as checkout sees it, and which ones a payment's customer is offered: those that fit it, narrowed to its merchant's.

import type { Payment } from '../payment.ts';
import type { FieldName, FieldUse } from './fields.ts';
import type { MethodSettings } from './settings.ts';
import type { Account } from './transfer/payload-text.ts';
import { type Transferable, transferReference } from './transfer/quick-pay.ts';

export type MethodType = 'bank_transfer' | 'manual' | 'details' | 'test_card';

/** What a method needs to know of a payment. */
type Payable = Transferable & Pick<Payment, 'mode'>;

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

const must = (name: FieldName): FieldUse => ({ name, required: true });
const may = (name: FieldName): FieldUse => ({ name, required: false });

const MAKERS: Record<MethodType, (settings: MethodSettings) => Method> = {
  bank_transfer: bankTransfer,
  manual,
  details,
  test_card: testCard,
};

type TransferInstructions = Instructions & { kind: 'transfer' };

const FALLBACK = details({ id: 'details', name: null });

/** Whether a method is there only because no configured one fits. */
export const isFallback = (method: Method): boolean => method === FALLBACK;

/** Looks up the methods that a merchant chose, by their ids: null if it chose all, undefined if there is no such merchant. */
interface Choices {
  methodsOf(merchantId: string): readonly string[] | null | undefined;
}

/** The methods as they stand now, replaced whole when the configuration is read again, narrowed by merchants' choices. */
export class Offer {
  readonly #choices: Choices;
  #methods: readonly Method[] = [];
  #settings: readonly MethodSettings[] = [];

  constructor(methods: readonly MethodSettings[], choices: Choices) {
    this.#choices = choices;
    this.replace(methods);
  }

  /** The settings of all methods. */
  get settings(): readonly MethodSettings[] {
    return this.#settings;
  }

  replace(methods: readonly MethodSettings[]): void {
    this.#settings = methods;
    this.#methods = methods.map((settings) => MAKERS[settings.type](settings));
  }

  /**
   * The methods for a payment, in the configuration's order; never none. A merchant that is no longer known is offered
   * contact details alone: the accounts that are left are those of others.
   */
  methodsFor(payment: Payable & { merchant_id: string }): readonly Method[] {
    const chosen = this.#choices.methodsOf(payment.merchant_id);
    const fitting = this.#methods.filter(
      (method) =>
        chosen !== undefined && (chosen === null || chosen.includes(method.id)) && method.fits(payment),
    );
    return fitting.length > 0 ? fitting : [FALLBACK];
  }

  /** How to transfer the money of a payment, or undefined if no method on offer is a transfer. */
  transferFor(payment: Parameters<Offer['methodsFor']>[0]): TransferInstructions | undefined {
    const all = this.methodsFor(payment).map((method) => method.instructions(payment));
    return all.find((one): one is TransferInstructions => one?.kind === 'transfer');
  }
}

function manual({ id, name, instructions, currencies }: MethodSettings): Method {
  return {
    id,
    type: 'manual',
    name,
    fields: [must('payer-name'), must('payer-email'), may('customer-reference')],
    fits: ({ currency }) => currencies === null || currencies.includes(currency),
    instructions: () => ({ kind: 'text', text: instructions! }),
  };
}

function testCard({ id, name }: MethodSettings): Method {
  return {
    id,
    type: 'test_card',
    name,
    fields: [must('card-number'), must('card-expiry'), must('payer-email')],
    fits: ({ mode }) => mode === 'test',
    instructions: () => null,
  };
}

function details({ id, name }: { id: string; name: string | null }): Method {
  return {
    id,
    type: 'details',
    name,
    fields: [must('payer-name'), must('payer-email'), may('payer-phone'), may('note')],
    fits: () => true,
    instructions: () => null,
  };
}

/** What a customer is asked who says that they sent a transfer. */
export const TRANSFER_FIELDS: readonly FieldUse[] = [
  must('payer-email'),
  may('transfer-name'),
  may('transfer-iban'),
];

function bankTransfer({ id, name, accounts }: MethodSettings): Method {
  const accountIn = (currency: string) => accounts.find((account) => account.currency === currency);
  return {
    id,
    type: 'bank_transfer',
    name,
    fields: TRANSFER_FIELDS,
    fits: ({ currency }) => accountIn(currency) !== undefined,
    instructions: (payment) => {
      const account = accountIn(payment.currency)!;
      return { kind: 'transfer', account, reference: transferReference(account, payment) };
    },
  };
}
