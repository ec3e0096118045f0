// The page at the root: tells a person who came without a payment's link what this site is, and in development where to begin.
import { html } from '../lib/html.ts';
import { framedPage } from '../web/pages/framed-page.ts';
import type { PageAnswer, PageRoute } from '../web/pages/surface.ts';
import type { CheckoutVisit, Name } from './visit.ts';

/** Where a developer goes on. */
export interface FrontLinks {
  /** Undefined if registration is closed. */
  registerUrl: string | undefined;
  consoleUrl: string;
  /** Undefined if the documentation is switched off. */
  docsUrl: string | undefined;
  descriptionUrl: string;
  inboxUrl: string;
  mailUrl: string;
}

const NO_PAYMENT = { payment_id: undefined };

export class FrontRoute implements PageRoute<Name> {
  readonly path: string;
  readonly #links: FrontLinks | null;

  /** `basePath`: of the site's base URL. `links`: null in production, where the page names no other place. */
  constructor(basePath: string, links: FrontLinks | null) {
    this.path = basePath === '' ? '/' : '';
    this.#links = links;
  }

  show(visit: CheckoutVisit): PageAnswer {
    const { words } = visit;
    const content = html`<h1>${words.html('front.heading')}</h1>
<p>${words.html('front.lead')}</p>
<p>${words.html('front.customer')}</p>
${this.#links && developers(visit, this.#links)}`;
    const heading = words.text('front.heading');
    const skip = words.html('register.skip');
    return { text: framedPage(visit, { heading, brand: 'Counterfoil', content, skip, here: NO_PAYMENT }) };
  }
}

function developers(
  { words }: CheckoutVisit,
  { registerUrl, consoleUrl, docsUrl, descriptionUrl, inboxUrl, mailUrl }: FrontLinks,
) {
  return html`<h2>${words.html('front.developer')}</h2>
<ul class="doors">
${docsUrl !== undefined && html`<li>${words.html('front.docs', { file: html`<a href="${docsUrl}"><bdi>/docs</bdi></a>` })}</li>`}
${registerUrl !== undefined && html`<li><a href="${registerUrl}">${words.html('front.register')}</a></li>`}
<li><a href="${consoleUrl}">${words.html('front.console')}</a></li>
<li><a href="${descriptionUrl}">${words.html('front.api')}</a></li>
<li><a href="${inboxUrl}">Webhooks: <code>/dev/inbox</code></a></li>
<li><a href="${mailUrl}">Mail: <code>/dev/mail</code></a></li>
</ul>`;
}
