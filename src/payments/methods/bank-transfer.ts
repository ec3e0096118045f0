// A transfer to the merchant's account in the payment's currency, with a reference that tells which payment it is for.
import type { FieldUse } from './fields.ts';
import type { Method, MethodSettings } from './method.ts';
import { transferReference } from './transfer/quick-pay.ts';

/** What a customer is asked who says that they sent a transfer. */
export const TRANSFER_FIELDS: readonly FieldUse[] = [
  { name: 'payer-email', required: true },
  { name: 'transfer-name', required: false },
  { name: 'transfer-iban', required: false },
];

export function bankTransfer({ id, name, accounts }: MethodSettings): Method {
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
