// The icons, in one sprite: each page carries the symbols that it uses, once, so that none is waited for.
import { type Html, html } from '../../lib/html.ts';

const ringed = (path: string) => html`<circle cx="12" cy="12" r="10"/><path d="${path}"/>`;
const drawn = (path: string) => html`<path d="${path}"/>`;

/** What each is drawn of, 24 units wide and high. */
const SYMBOLS = {
  clock: ringed('M12 7v5l3 2'),
  eye: ringed('M7 12s2-3 5-3 5 3 5 3-2 3-5 3-5-3-5-3m5-.1v.2'),
  check: ringed('m8 12 3 3 5-6'),
  slash: ringed('m7 17 10-10'),
  cross: ringed('m9 9 6 6m0-6-6 6'),
  late: ringed('M12 7v5m0 4v.1'),
  open: html`<circle cx="12" cy="12" r="8"/>`,
  globe: html`<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c3 3 3 15 0 18-3-3-3-15 0-18"/>`,
  sun: html`<circle cx="12" cy="12" r="4"/><path d="M12 3v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4"/>`,
  moon: drawn('M20 14A8.5 8.5 0 0 1 10 4a8.5 8.5 0 1 0 10 10'),
  device: html`<rect x="3" y="5" width="18" height="12" rx="2"/><path d="M9 20h6"/>`,
  bank: drawn('M4 10 12 5l8 5M5 10h14M7 10v7m5-7v7m5-7v7M4 19h16'),
  cash: html`<rect x="3" y="6" width="18" height="12" rx="2"/><circle cx="12" cy="12" r="2.5"/><path d="M6 9.5v5m12-5v5"/>`,
  card: html`<rect x="3" y="5" width="18" height="14" rx="2"/><path d="M3 10h18M7 15h3"/>`,
  talk: drawn('M4 5h16v11H9l-5 4z'),
  mail: html`<rect x="3" y="5" width="18" height="14" rx="2"/><path d="m4 7 8 6 8-6"/>`,
  calendar: html`<rect x="4" y="5" width="16" height="15" rx="2"/><path d="M4 10h16M8 3v4m8-4v4"/>`,
  home: drawn('m4 11 8-7 8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z'),
  inbox: drawn(
    'M4 13V6a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2v7m-16 0v5a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-5m-16 0h4l2 3h4l2-3h4',
  ),
  receipt: drawn('M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6m-6 4h6'),
  shop: drawn(
    'M4 10V8l2-4h12l2 4v2M4 10a2.7 2.7 0 0 0 5.3 0 2.7 2.7 0 0 0 5.4 0 2.7 2.7 0 0 0 5.3 0M5 13v7h14v-7',
  ),
  hook: drawn('M9 7a3 3 0 1 1 5 2.2L11 15m-1 .5A3 3 0 1 1 6.5 14M14.5 15H18a3 3 0 1 1-2.8 4'),
  shield: drawn('M12 3 5 6v5c0 5 3 8 7 10 4-2 7-5 7-10V6zM9 12l2 2 4-4'),
  pulse: drawn('M3 12h4l2-6 4 12 3-9 1.5 3H21'),
  search: html`<circle cx="10.5" cy="10.5" r="6.5"/><path d="m15.5 15.5 5 5"/>`,
  tick: drawn('m5 13 4 4 10-11'),
  warning: drawn('M12 4 2.5 20h19zM12 10v4m0 3v.1'),
  mark: drawn('M12 7v6m0 4v.1'),
  returned: ringed('m11 8-4 4 4 4m-4-4h10'),
  back: drawn('m14 6-6 6 6 6'),
  up: drawn('m6 15 6-6 6 6'),
  down: drawn('m6 9 6 6 6-6'),
} as const satisfies Record<string, Html>;
export type IconName = keyof typeof SYMBOLS;

/** An icon; a word always stands beside it, or hidden from eyes. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" aria-hidden="true" focusable="false"><use href="#i-${name}"/></svg>`;
}

/** The symbols of the icons in `markup`, as the page that shows it carries them; null if there are none. */
export function spriteOf(markup: string): Html | null {
  const used = new Set([...markup.matchAll(/<use href="#i-(\w+)"/g)].map(([, name]) => name as IconName));
  if (used.size === 0) return null;
  const symbols = [...used].map(
    (name) => html`<symbol id="i-${name}" viewBox="0 0 24 24">${SYMBOLS[name]}</symbol>`,
  );
  return html`<svg class="sprite" aria-hidden="true" focusable="false">${symbols}</svg>\n`;
}
