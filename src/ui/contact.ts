// A support contact as a link.
import { type Html, html, safeUrl } from '../lib/html.ts';
import { contactAddress } from '../lib/web-address.ts';

/** A link to a web address, an e-mail address or a phone number; `subject` is that of a mail, and stands in an address as it is. */
export function contactLink(contact: string, subject?: string): Html {
  const address = contactAddress(contact);
  const about = subject !== undefined && address.startsWith('mailto:') ? `?subject=${subject}` : '';
  const target = safeUrl(address + about);
  return target
    ? html`<a href="${target}" rel="noreferrer noopener"><bdi>${contact}</bdi></a>`
    : html`<bdi>${contact}</bdi>`;
}
