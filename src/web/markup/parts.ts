// Small pieces that pages of several surfaces share: pairs of terms, links to the support contact, what a reviewer says.
import { type Html, html, safeUrl } from '../../lib/html.ts';
import { contactAddress } from '../../lib/web-address.ts';

export type TermPair = [term: Html, value: Html | string | null];
export type TermRow = [term: Html | string, value: Html | string | number | null | undefined | false];

/** A text with its line breaks as markup, such as a postal address. */
export const lines = (text: Html | string): Html =>
  typeof text === 'string'
    ? html`${text.split('\n').map((line, i) => html`${i > 0 && html`<br>`}${line}`)}`
    : text;

/** Terms and what they say; what has nothing to say is left out, the whole list too. */
export function terms(look: string, rows: readonly TermRow[]): Html {
  const told = rows.filter(
    ([, value]) => value !== null && value !== undefined && value !== false && value !== '',
  );
  if (told.length === 0) return html``;
  return html`<dl class="${look}">
${told.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

/** The same for texts of all directions, with their line breaks. */
export const facts = (rows: readonly TermPair[]): Html =>
  terms(
    'facts',
    rows.map(([term, value]) => [term, value !== null && html`<bdi>${lines(value)}</bdi>`]),
  );

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
