// The statuses of a payment and the moves between them, drawn. The table beside it says the same in words.
import { type Html, html } from '../../lib/html.ts';

const SAID =
  'A payment is created pending. When the customer submits, it is requires_review. A person then makes it approved or rejected. A pending payment is cancelled by you, by the customer or by its end. Money that comes late opens a cancelled payment for review.';

/** A status at the middle of its box. */
const box = (x: number, y: number, status: string, width = 132) => html`<g class="${status}">
<rect x="${x - width / 2}" y="${y - 18}" width="${width}" height="36" rx="9"/><text x="${x}" y="${y + 5}">${status}</text></g>
`;
const arrow = (path: string) => html`<path d="${path}" marker-end="url(#tip)"/>\n`;
const words = (x: number, y: number, text: string) =>
  html`<text class="move" x="${x}" y="${y}">${text}</text>\n`;

/** The diagram; its colours are those of the style. */
export function stateDiagram(): Html {
  return html`<svg class="states" viewBox="0 0 400 330" role="img" aria-label="${SAID}">
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0 0 8 4 0 8z"/></marker></defs>
${arrow('M110 54V136')}${words(118, 82, 'the customer')}${words(118, 99, 'submits')}
${arrow('M178 32H280')}${words(184, 22, 'cancel, expire')}
${arrow('M338 54V156H190')}${words(246, 122, 'money comes')}${words(246, 139, 'all the same')}
${arrow('M88 136V54')}${words(10, 90, 'taken back')}
${arrow('M96 178 78 264')}${words(14, 222, 'approve')}
${arrow('M130 178 226 264')}${words(196, 222, 'reject')}
${box(110, 32, 'pending')}${box(338, 32, 'cancelled', 110)}
${box(110, 157, 'requires_review', 152)}${box(76, 286, 'approved')}${box(236, 286, 'rejected')}</svg>`;
}
