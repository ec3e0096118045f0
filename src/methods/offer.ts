// Which ways to pay a payment's customer is offered: those configured that fit it, narrowed to its merchant's.
import { bankTransfer } from './bank-transfer.ts';
import { details } from './details.ts';
import { manual } from './manual.ts';
import type { Method, MethodSettings, MethodType, Payable } from './method.ts';
import { testCard } from './test-card.ts';

const MAKERS: Record<MethodType, (settings: MethodSettings) => Method> = {
  bank_transfer: bankTransfer,
  manual,
  details,
  test_card: testCard,
};

const FALLBACK = details({ id: 'details', name: null });

/** A merchant's choice among the methods, by their ids; all of them where it makes none. */
export interface Narrowing {
  id: string;
  methods: readonly string[] | null;
}

/** Methods and merchants' choices as they stand now; replaced whole when the configuration is read again. */
export class Offer {
  #methods: readonly Method[] = [];
  /** Of every merchant there is; nothing for one that is offered all. */
  #chosen = new Map<string, readonly string[] | null>();

  constructor(methods: readonly MethodSettings[], merchants: readonly Narrowing[]) {
    this.replace(methods, merchants);
  }

  replace(methods: readonly MethodSettings[], merchants: readonly Narrowing[]): void {
    this.#methods = methods.map((settings) => MAKERS[settings.type](settings));
    this.#chosen = new Map(merchants.map(({ id, methods: ids }) => [id, ids]));
  }

  /**
   * The methods for a payment, in the configuration's order; never none. A merchant that left the configuration is offered
   * contact details alone: the accounts that are left are those of others.
   */
  methodsFor(payment: Payable & { merchant_id: string }): readonly Method[] {
    const chosen = this.#chosen.get(payment.merchant_id);
    const fitting = this.#methods.filter(
      (method) =>
        chosen !== undefined && (chosen === null || chosen.includes(method.id)) && method.fits(payment),
    );
    return fitting.length > 0 ? fitting : [FALLBACK];
  }
}
