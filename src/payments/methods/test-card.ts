// The card of test payments: takes the published test numbers and no other, so that no real card can be typed.
import type { Method, MethodSettings } from './method.ts';

export function testCard({ id, name }: MethodSettings): Method {
  return {
    id,
    type: 'test_card',
    name,
    fields: [
      { name: 'card-number', required: true },
      { name: 'card-expiry', required: true },
      { name: 'payer-email', required: true },
    ],
    fits: ({ mode }) => mode === 'test',
    instructions: () => null,
  };
}
