// The sign of the product, as the console shows it.
import { type Html, html } from '../../lib/html.ts';

const ground = html`<path class="mark-ground" d="M8 0h16a8 8 0 0 1 8 8v16a8 8 0 0 1-8 8H8a8 8 0 0 1-8-8V8a8 8 0 0 1 8-8z"/>`;
const slip = html`<path class="mark-slip" d="M9 6h14v20l-2.3-2-2.4 2-2.3-2-2.3 2-2.4-2L9 26z"/>
<path class="mark-text" d="M12.5 11h7m-7 4h7"/>`;
export const productMark: Html = html`<svg viewBox="0 0 32 32" aria-hidden="true">${ground}${slip}</svg>`;
