// The fields of the forms that approve and reject, and what of them the customer will read.

import { choice, type Faults, field } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Payment } from '../../payments/payment.ts';
import { customerMessage } from '../../web/markup/parts.ts';
import { BANK_REFERENCE_MAXIMUM, MESSAGE_MAXIMUM, NOTE_MAXIMUM, REJECT_REASONS } from '../review.ts';

/** What was typed, by the names of the fields. */
export type Filled = Readonly<Record<string, string | undefined>>;

/** The name of the button that shows the message without deciding. */
export const PREVIEW = 'preview';

/** `isFirst`: whether the form is shown as it is, so that typing can begin at once. */
export function approvalFields(filled: Filled, faults: Faults, isFirst: boolean): Html {
  // The field that a reviewer fills in most.
  return html`${bankReferenceField(filled, faults, isFirst)}${noteField(filled, faults)}`;
}

export function bankReferenceField(filled: Filled, faults: Faults, autofocus = false): Html {
  return field({
    name: 'bank_reference',
    label: 'Bank reference (optional)',
    hint: `Of the money that arrived. At most ${BANK_REFERENCE_MAXIMUM} characters.`,
    value: filled.bank_reference ?? '',
    fault: faults.bank_reference,
    attributes: { autofocus, spellcheck: 'false', autocapitalize: 'none' },
  });
}

export function rejectionFields(filled: Filled, faults: Faults, isFirst: boolean): Html {
  return html`${choice({
    name: 'reason',
    legend: 'Why is it rejected?',
    options: Object.entries(REJECT_REASONS),
    chosen: filled.reason,
    fault: faults.reason,
    autofocus: isFirst,
  })}${noteField(filled, faults)}${field({
    name: 'message',
    label: 'Message to the customer (optional)',
    hint: `They read this on the payment’s page. Plain text, at most ${MESSAGE_MAXIMUM} characters.`,
    value: filled.message ?? '',
    fault: faults.message,
    lines: 3,
  })}`;
}

export function noteField(filled: Filled, faults: Faults): Html {
  return field({
    name: 'note',
    label: 'Internal note (optional)',
    hint: `For administrators alone. At most ${NOTE_MAXIMUM} characters.`,
    value: filled.note ?? '',
    fault: faults.note,
    lines: 2,
  });
}

/** The message as checkout will show it, by the same piece of markup; nothing is decided by looking at it. */
export function told({ merchant_name }: Payment, message: string | undefined): Html {
  const text = (message ?? '').replace(/\r\n?/g, '\n').trim();
  return html`<div class="preview" id="preview" role="status">
<p class="hint">${text === '' ? 'There is no message: the customer only reads that the payment was not accepted.' : 'The customer will read this, its heading in their own language. Nothing is decided yet.'}</p>
${text !== '' && customerMessage(html`Message from <bdi>${merchant_name}</bdi>`, text)}
</div>`;
}

const LABELS: Readonly<Record<string, string>> = {
  amount: 'Amount',
  received_on: 'Day',
  bank_reference: 'Bank reference',
  note: 'Internal note',
  message: 'Message to the customer',
  version: 'The version',
};

/** The faults of a form in words that stand alone: with the field's name in them, and for a choice what to do. */
export function wording(faults: Faults): Faults {
  const worded: Record<string, string> = {};
  // As the fields stand on the page.
  const order = Object.keys(LABELS);
  const sorted = Object.entries(faults).sort(([one], [other]) => order.indexOf(one) - order.indexOf(other));
  for (const [name, fault] of sorted) {
    const label = LABELS[name];
    worded[name] =
      name === 'reason'
        ? 'Choose a reason'
        : label
          ? `${label} ${fault.charAt(0).toLowerCase()}${fault.slice(1).replace(/\.$/, '')}`
          : fault;
  }
  return worded;
}
