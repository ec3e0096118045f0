// The console's small pictures, each beside a word.
import { type Html, html } from '../../lib/html.ts';

const GLYPHS = {
  home: 'm4 11 8-7 8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z',
  inbox:
    'M4 13V6a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2v7m-16 0v5a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-5m-16 0h4l2 3h4l2-3h4',
  slip: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6m-6 4h6',
  bank: 'M4 10 12 4l8 6M5 10h14M7 10v7m5-7v7m5-7v7M4 20h16',
  shop: 'M4 10V8l2-4h12l2 4v2M4 10a2.7 2.7 0 0 0 5.3 0 2.7 2.7 0 0 0 5.4 0 2.7 2.7 0 0 0 5.3 0M5 13v7h14v-7',
  shield: 'M12 3 5 6v5c0 5 3 8 7 10 4-2 7-5 7-10V6zM9 12l2 2 4-4',
  pulse: 'M3 12h4l2-6 4 12 3-9 1.5 3H21',
  help: 'M9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 17v.1M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18z',
  search: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5l5 5',
  tick: 'm5 13 4 4 10-11',
  warn: 'M12 4 2.5 20h19zM12 10v4m0 3v.1',
  mark: 'M12 7v6m0 4v.1',
  up: 'm6 15 6-6 6 6',
  down: 'm6 9 6 6 6-6',
} as const;
export type Glyph = keyof typeof GLYPHS;

/** One of the console's pictures. */
export const glyph = (name: Glyph): Html =>
  html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${GLYPHS[name]}"/></svg>`;

/** The sign of the product. */
const ground = html`<path class="mark-ground" d="M8 0h16a8 8 0 0 1 8 8v16a8 8 0 0 1-8 8H8a8 8 0 0 1-8-8V8a8 8 0 0 1 8-8z"/>`;
const slip = html`<path class="mark-slip" d="M9 6h14v20l-2.3-2-2.4 2-2.3-2-2.3 2-2.4-2L9 26z"/>
<path class="mark-text" d="M12.5 11h7m-7 4h7"/>`;
export const productMark: Html = html`<svg viewBox="0 0 32 32" aria-hidden="true">${ground}${slip}</svg>`;
