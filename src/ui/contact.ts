// Where somebody can be asked, as a link that a press opens.
import { type Html, html, safeUrl } from '../lib/html.ts';

/** A link to a web address, an e-mail address or a phone number; `subject` is that of a mail, and stands in an address as it is. */
export function contactLink(contact: string, subject?: string): Html {
  const about = subject === undefined ? '' : `?subject=${subject}`;
  const address = contact.includes('://')
    ? contact
    : contact.includes('@')
      ? `mailto:${encodeURIComponent(contact).replace('%40', '@')}${about}`
      : `tel:${contact.replace(/[^+\d]/g, '')}`;
  const target = safeUrl(address);
  return target
    ? html`<a href="${target}" rel="noreferrer noopener"><bdi>${contact}</bdi></a>`
    : html`<bdi>${contact}</bdi>`;
}
