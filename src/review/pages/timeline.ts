// What happened to a payment, as a list that reads as a story, and where in the sealed history each part of it stands.

import { glyph } from '../../administrators/pages/glyphs.ts';
import { literal, moment, pairs, said, type TermRow } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import type { TimelineItem } from '../timeline.ts';
import type { ReviewContext } from './context.ts';

/** Oldest first; each entry with what was written, its request, and all that the history has of it. */
export function timeline(context: ReviewContext, items: readonly TimelineItem[]): Html {
  return html`<ol class="story">${items.map((item) => html`${entry(context, item)}\n`)}</ol>`;
}

function entry(context: ReviewContext, item: TimelineItem): Html {
  const { say } = context;
  const { number, at, actor, sentence, request_id, facts, seal, checkpoint } = item;
  const changed: TermRow[] = Object.entries(facts).map(([name, value]) => [
    name,
    value === null ? html`<span class="muted">${say`none`}</span>` : literal(String(value)),
  ]);
  // A sentence of ours, whatever name it begins with: `dir=auto` would turn it around after an Arabic one.
  return html`<li><p>${sentence}</p>
${written(context, item)}
<details><summary>${moment(context, at)}</summary>
${pairs([
  [say`Entry`, number],
  [say`Request`, request_id !== null && literal(request_id)],
  [say`Actor`, literal(actor)],
  [say`Action`, literal(item.action)],
  ...changed,
  [say`Seal`, seal ? html`${seal.number} ${literal(seal.hash)}` : say`None yet`],
  [
    say`Checkpoint`,
    checkpoint
      ? say.html`of seal ${checkpoint.seal}, signed ${literal(checkpoint.signed_at)}`
      : say`None yet`,
  ],
])}
</details></li>`;
}

/** What an administrator wrote with an act. */
function written({ say }: ReviewContext, { note, bank_reference, message }: TimelineItem): Html | null {
  if (note === undefined && bank_reference === undefined && message === undefined) return null;
  return pairs([
    [say`Bank reference`, bank_reference && said(bank_reference)],
    [say`Note`, note && html`<span class="words" dir="auto">${note}</span>`],
    [say`Message to the customer`, message && html`<span class="words" dir="auto">${message}</span>`],
  ]);
}

/** Where a payment stands in the history: its entries, the seal that closes the last, and who vouches for it. */
export function placeInHistory(context: ReviewContext, items: readonly TimelineItem[]): Html {
  const { say, address } = context;
  const last = items.at(-1);
  if (!last) return html`<p class="muted">${say`The history has no entries of this payment.`}</p>`;
  const { seal, checkpoint } = last;
  const text = seal ? say`Sealed up to entry ${last.number}.` : say`Not sealed yet.`;
  const vouched = checkpoint
    ? say.html`A checkpoint signed ${moment(context, Date.parse(checkpoint.signed_at))} vouches for it.`
    : html`${say`No checkpoint vouches for it yet: one is signed within a minute or two.`}`;
  return html`<p class="sealed">${glyph('shield')}<span>${text} ${vouched} <a href="${address('/audit')}">${say`The whole history`}</a></span></p>`;
}
