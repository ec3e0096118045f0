// Any other way to pay that the merchant describes in a name and plain text: cash on delivery, mobile money, a cheque.
import type { Method, MethodSettings } from './method.ts';

export function manual({ id, name, instructions, currencies }: MethodSettings): Method {
  return {
    id,
    type: 'manual',
    name,
    fields: [
      { name: 'payer-name', required: true },
      { name: 'payer-email', required: true },
      { name: 'customer-reference', required: false },
    ],
    fits: ({ currency }) => currencies === null || currencies.includes(currency),
    instructions: () => ({ kind: 'text', text: instructions! }),
  };
}
