// What happened to a payment, as a list that reads as a story, and where in the sealed history each part of it stands.

import { literal, moment, rows, said, type TermRow } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import type { TimelineItem } from '../timeline.ts';
import type { ReviewContext } from './context.ts';

/** Oldest first; each entry with what was written, its request, and all that the history has of it. */
export function timeline(context: ReviewContext, items: readonly TimelineItem[]): Html {
  return html`<ol class="timeline">${items.map((item) => html`${entry(context, item)}\n`)}</ol>`;
}

function entry(context: ReviewContext, item: TimelineItem): Html {
  const { number, at, actor, sentence, request_id, facts, seal, checkpoint } = item;
  const changed: TermRow[] = Object.entries(facts).map(([name, value]) => [
    name,
    value === null ? html`<span class="muted">none</span>` : literal(String(value)),
  ]);
  // A sentence of ours, whatever name it begins with: `dir=auto` would turn it around after an Arabic one.
  return html`<li><p>${sentence}</p>
${written(item)}
<p class="hint">${moment(context, at)}${request_id !== null && html` · request ${literal(request_id)}`}</p>
<details><summary>Entry ${number}</summary>
${rows([
  ['Actor', literal(actor)],
  ['Action', literal(item.action)],
  ...changed,
  ['Seal', seal ? html`${seal.number} ${literal(seal.hash)}` : 'None yet'],
  [
    'Checkpoint',
    checkpoint ? html`of seal ${checkpoint.seal}, signed ${literal(checkpoint.signed_at)}` : 'None yet',
  ],
])}
</details></li>`;
}

/** What an administrator wrote with an act. */
function written({ note, bank_reference, message }: TimelineItem): Html | null {
  if (note === undefined && bank_reference === undefined && message === undefined) return null;
  return rows([
    ['Bank reference', bank_reference && said(bank_reference)],
    ['Note', note && html`<span class="words" dir="auto">${note}</span>`],
    ['Told the customer', message && html`<span class="words" dir="auto">${message}</span>`],
  ]);
}

/** Where a payment stands in the history: its entries, the seal that closes the last, and who vouches for it. */
export function placeInHistory(context: ReviewContext, items: readonly TimelineItem[]): Html {
  const last = items.at(-1);
  if (!last) return html`<p class="muted">The history has no entries of this payment.</p>`;
  const { seal, checkpoint } = last;
  const numbers = items.map(({ number }) => number);
  return html`${rows([
    [numbers.length === 1 ? 'Entry' : 'Entries', numbers.join(', ')],
    ['Newest seal', seal && html`${seal.number} ${literal(seal.hash)}`],
    [
      'Vouched for by',
      checkpoint
        ? html`the checkpoint of seal ${checkpoint.seal}, signed ${moment(context, Date.parse(checkpoint.signed_at))}`
        : 'no checkpoint yet: one is signed within a minute or two',
    ],
  ])}
<p class="hint">Recompute it on <a href="${context.address('/audit')}">the audit log’s page</a>,
or with <code translate="no">counterfoil audit verify</code>.</p>`;
}
