// The fields of the forms that approve and reject, and what of them the customer will read.

import { choice, type Faults, field } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { trimmedText } from '../../lib/text.ts';
import type { Payment } from '../../payments/payment.ts';
import { customerMessage } from '../../web/markup/parts.ts';
import { BANK_REFERENCE_MAXIMUM, MESSAGE_MAXIMUM, NOTE_MAXIMUM, REJECT_REASONS } from '../review.ts';
import type { ReviewContext } from './context.ts';

/** What was typed, by the names of the fields. */
export type Filled = Readonly<Record<string, string | undefined>>;

/** The name of the button that shows the message without deciding. */
export const PREVIEW = 'preview';

export function approvalFields(context: ReviewContext, filled: Filled, faults: Faults): Html {
  return html`${bankReferenceField(context, filled, faults)}${noteField(context, filled, faults)}`;
}

export function bankReferenceField({ say }: ReviewContext, filled: Filled, faults: Faults): Html {
  return field({
    name: 'bank_reference',
    label: say`Bank reference (optional)`,
    hint: say`As on the bank statement. ${BANK_REFERENCE_MAXIMUM} characters or fewer.`,
    value: filled.bank_reference ?? '',
    fault: faults.bank_reference,
    attributes: { spellcheck: 'false', autocapitalize: 'none' },
  });
}

export function rejectionFields(context: ReviewContext, filled: Filled, faults: Faults): Html {
  const { say } = context;
  return html`${choice({
    name: 'reason',
    legend: say`Why do you reject it?`,
    options: Object.entries(REJECT_REASONS).map(([value, text]) => [value, say.of(text)]),
    chosen: filled.reason,
    fault: faults.reason,
  })}${field({
    name: 'message',
    label: say`Message to the customer (optional)`,
    hint: say`They read it on the payment’s page. ${MESSAGE_MAXIMUM} characters or fewer.`,
    value: filled.message ?? '',
    fault: faults.message,
    lines: 3,
  })}${noteField(context, filled, faults)}`;
}

export function noteField(
  { say }: ReviewContext,
  filled: Filled,
  faults: Faults,
  label = say`Note (optional)`,
): Html {
  return field({
    name: 'note',
    label,
    hint: say`Only administrators read it. ${NOTE_MAXIMUM} characters or fewer.`,
    value: filled.note ?? '',
    fault: faults.note,
    lines: 2,
  });
}

/** The message as checkout will show it, by the same piece of markup; nothing is decided by looking at it. */
export function told({ say }: ReviewContext, { merchant_name }: Payment, message: string | undefined): Html {
  const text = trimmedText(message ?? '');
  return html`<div class="preview" id="preview" role="status">
<p class="hint">${
    text === ''
      ? say`There is no message: the customer only reads that the payment was not accepted.`
      : say`The customer will read this, with its heading in their language. Nothing is decided yet.`
  }</p>
${text !== '' && customerMessage(say.html`Message from ${html`<bdi>${merchant_name}</bdi>`}`, text)}
</div>`;
}

const LABELS: Readonly<Record<string, string>> = {
  amount: phrase('Amount'),
  received_on: phrase('Day'),
  bank_reference: phrase('Bank reference'),
  note: phrase('Note'),
  message: phrase('Message to the customer'),
  version: phrase('The version'),
};

/** The faults of a form in words that stand alone: with the field's name in them, and for a choice what to do. */
export function wording({ say }: Pick<ReviewContext, 'say'>, faults: Faults): Faults {
  const worded: Record<string, string> = {};
  // As the fields stand on the page.
  const order = Object.keys(LABELS);
  const sorted = Object.entries(faults).sort(([one], [other]) => order.indexOf(one) - order.indexOf(other));
  for (const [name, fault] of sorted) {
    const label = LABELS[name];
    const most = /^Must be at most (\d+) characters\.$/.exec(fault)?.[1];
    if (name === 'reason') worded[name] = say`Choose a reason`;
    else if (!label) worded[name] = say.of(fault);
    else if (most) worded[name] = say`${say.of(label)} must be ${most} characters or fewer`;
    else if (say.tag !== 'en') worded[name] = `${say.of(label)}: ${say.of(fault)}`;
    else worded[name] = `${label} ${fault.charAt(0).toLowerCase()}${fault.slice(1).replace(/\.$/, '')}`;
  }
  return worded;
}
