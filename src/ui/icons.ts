// The few icons pages draw, as inline SVG in the colour of the text beside them.
import { type Html, html } from '../lib/html.ts';

const PATHS = {
  clock: 'M12 7v5l3 2',
  eye: 'M7 12s2-3 5-3 5 3 5 3-2 3-5 3-5-3-5-3m5-.1v.2',
  check: 'm8 12 3 3 5-6',
  slash: 'm7 17 10-10',
  cross: 'm9 9 6 6m0-6-6 6',
  late: 'M12 7v5m0 4v.1',
} as const;
export type IconName = keyof typeof PATHS;

/** An icon in its circle; a word always stands beside it. */
export function icon(name: IconName): Html {
  const drawing = html`<circle cx="12" cy="12" r="10"/><path d="${PATHS[name]}"/>`;
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">${drawing}</svg>`;
}
