// Contact details alone: the merchant arranges the rest. What checkout falls back on when nothing else fits.
import type { Method } from './method.ts';

export function details({ id, name }: { id: string; name: string | null }): Method {
  return {
    id,
    type: 'details',
    name,
    fields: [
      { name: 'payer-name', required: true },
      { name: 'payer-email', required: true },
      { name: 'payer-phone', required: false },
      { name: 'note', required: false },
    ],
    fits: () => true,
    instructions: () => null,
  };
}
