// Small pieces that pages of several surfaces share: pairs of terms, icons, links to the support contact, what a reviewer says.
import { type Html, html, safeUrl } from '../../lib/html.ts';
import { contactAddress } from '../../lib/web-address.ts';

export type TermPair = [term: Html, value: Html | string | null];

/** Terms and what they say; what has nothing to say is left out. */
export function facts(rows: readonly TermPair[]): Html {
  const told = rows.filter(([, value]) => value !== null);
  return html`<dl>
${told.map(([term, value]) => html`<div><dt>${term}</dt><dd><bdi>${value}</bdi></dd></div>\n`)}</dl>`;
}

/** `text` under `heading`, which names who it is from. */
export function customerMessage(heading: Html, text: string): Html {
  return html`<section class="message">
<h2>${heading}</h2>
<p class="words" dir="auto">${text}</p>
</section>`;
}

/** A link to a web address, an e-mail address or a phone number; `subject` is that of a mail, and stands in an address as it is. */
export function contactLink(contact: string, subject?: string): Html {
  const address = contactAddress(contact);
  const about = subject !== undefined && address.startsWith('mailto:') ? `?subject=${subject}` : '';
  const target = safeUrl(address + about);
  return target
    ? html`<a href="${target}" rel="noreferrer noopener"><bdi>${contact}</bdi></a>`
    : html`<bdi>${contact}</bdi>`;
}

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
