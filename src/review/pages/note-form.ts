// The form that adds a note to a payment, and what it does.
import { field } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Payment } from '../../payments/payment.ts';
import { NOTE_MAXIMUM } from '../review.ts';
import type { ReviewContext } from './context.ts';
import type { Carried } from './list-place.ts';
import { block, type Level } from './panel.ts';

export function noteForm(
  { address, token, form, say }: ReviewContext,
  { id }: Payment,
  carried: Carried,
  level: Level,
  faults: Readonly<Record<string, string>>,
): Html {
  return html`${block('note', say`Add a note`, level)}
<form method="post" action="${address(`/payments/${id}/notes`, carried)}#errors" novalidate>
${token}${field({
  name: 'note',
  label: say`Note`,
  hint: say`Only administrators read it. ${NOTE_MAXIMUM} characters or fewer.`,
  value: form.get('note') ?? '',
  fault: faults.note,
  lines: 2,
})}<button class="secondary">${say`Add the note`}</button>
</form>
</section>`;
}
