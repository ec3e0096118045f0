// The pages of mail beside checkout: in development the letters that lie there, and the end of an administrator's digests.
import type { FastifyInstance } from 'fastify';
import { findAdministrator } from '../../administrators/queries.ts';
import type { CheckoutVisit, Name } from '../../checkout/visit.ts';
import type { Journal } from '../../journal/journal.ts';
import type { KeyRing } from '../../journal/keys/key-ring.ts';
import { html } from '../../lib/html.ts';
import { pathOf } from '../../lib/web-address.ts';
import { facts, type TermPair } from '../../web/markup/parts.ts';
import { framedPage } from '../../web/pages/framed-page.ts';
import type { Handler, PageAnswer, PageRoute } from '../../web/pages/surface.ts';
import { choicesOf, keepChoices } from '../choices.ts';
import { DEV_MAIL_PATH, type DevMail } from '../dev-mail.ts';
import { LOGO_ID } from '../letters/markup.ts';
import { PRODUCT } from '../letters/staff.ts';
import type { Message } from '../message.ts';
import { UNSUBSCRIBE_PATH, unsubscriber } from '../unsubscribe.ts';

const BODY_BYTES = 16 * 1024;

interface PublicMailParts {
  journal: Journal;
  ring: KeyRing;
  checkoutBaseUrl: string;
  /** Where letters lie in development. */
  dev: DevMail | undefined;
}

export const mailRoutes = (parts: PublicMailParts): PageRoute<Name>[] => [
  new UnsubscribeRoute(parts),
  ...(parts.dev ? [new MailboxRoute(parts.dev, parts.checkoutBaseUrl)] : []),
];

const shown = (visit: CheckoutVisit, heading: string, content: ReturnType<typeof html>) =>
  framedPage(visit, { heading, brand: PRODUCT, content, here: { payment_id: undefined } });

class MailboxRoute implements PageRoute<Name> {
  readonly path = DEV_MAIL_PATH;
  readonly #dev: DevMail;
  readonly #path: string;

  constructor(dev: DevMail, checkoutBaseUrl: string) {
    this.#dev = dev;
    this.#path = pathOf(checkoutBaseUrl) + DEV_MAIL_PATH;
  }

  show(visit: CheckoutVisit): PageAnswer {
    const { view, typed } = visit.asked;
    const letter = this.#dev.kept.find(({ id }) => id === view);
    // A letter has its styles in itself, as mail programs want it.
    const policy = {
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
    };
    if (letter && typed === 'html') return { text: withLogo(letter), headers: policy };
    const heading = letter ? letter.subject : 'Mail';
    const content = letter
      ? html`<p lang="en"><a class="plain" href="${this.#path}">All letters</a></p>
<h1 dir="auto">${letter.subject}</h1>
${facts(head(letter, visit))}
<p lang="en"><a class="primary" href="${this.#path}?view=${letter.id}&amp;typed=html">Open it as HTML</a></p>
<h2 lang="en">As text</h2>
<pre class="code" dir="auto">${letter.text}</pre>`
      : html`<h1 lang="en">Mail</h1>
<p lang="en">No mail server is set, so letters lie here. The last 50 are kept until the server stops.</p>
${
  this.#dev.kept.length === 0
    ? html`<p lang="en">Nothing has come yet. Create a payment with a <code>customer.email</code> and send its link.</p>`
    : html`<ul>${this.#dev.kept.map((one) => this.#line(one, visit))}</ul>`
}`;
    return { text: shown(visit, heading, content) };
  }

  #line({ id, subject, to, at }: Message, { words }: CheckoutVisit) {
    const link = html`<a href="${this.#path}?view=${id}"><bdi>${subject}</bdi></a>`;
    return html`<li>${link}<br><span lang="en">to <bdi>${to}</bdi>, ${words.moment(at)}</span></li>\n`;
  }
}

/** As mail programs show it, which have the picture beside the text. */
const withLogo = ({ html, logo }: Message) =>
  logo ? html.replace(`cid:${LOGO_ID}`, `data:${logo.type};base64,${logo.bytes.toString('base64')}`) : html;

const head = ({ from, to, at, id, unsubscribeUrl }: Message, { words }: CheckoutVisit): TermPair[] => [
  [html`From`, html`${from.name} <span dir="ltr">&lt;${from.address}&gt;</span>`],
  [html`To`, to],
  [html`Written`, words.moment(at)],
  [html`Letter`, html`<code>${id}</code>`],
  [html`List-Unsubscribe`, unsubscribeUrl],
];

/** Ends the digests of the administrator whom the address names: by the mail program itself (RFC 8058), or by a button. */
class UnsubscribeRoute implements PageRoute<Name> {
  readonly path = UNSUBSCRIBE_PATH;
  /** Mail programs post from nowhere. The token in the address is what counts. */
  readonly takesForeign = true;
  readonly #parts: PublicMailParts;

  constructor(parts: PublicMailParts) {
    this.#parts = parts;
  }

  show(visit: CheckoutVisit): PageAnswer {
    const { from = '' } = visit.asked;
    if (unsubscriber(this.#parts.ring, from) === undefined) return unknownAddress(visit);
    const content = html`<h1 lang="en">No more digests?</h1>
<p lang="en">The queue is then not written about to this address. Under Your account in the console it can be chosen again.</p>
<form method="post" action="${visit.address({ from })}"><button class="primary" lang="en">End the digests</button></form>`;
    return { text: shown(visit, 'No more digests?', content) };
  }

  /** RFC 8058 (3.1) has mail programs send either type of form. What it holds does not count. */
  beside(scope: FastifyInstance, takeForm: Handler): Handler {
    scope.addContentTypeParser('multipart/form-data', { parseAs: 'buffer', bodyLimit: BODY_BYTES }, () =>
      Promise.resolve(new URLSearchParams()),
    );
    return takeForm;
  }

  async take(visit: CheckoutVisit): Promise<PageAnswer> {
    const id = unsubscriber(this.#parts.ring, visit.asked.from ?? '');
    if (id === undefined) return unknownAddress(visit);
    await this.#parts.journal.commit(async (transaction) => {
      const before = await findAdministrator(transaction, id);
      if (!before || choicesOf(before).digest === 'never') return;
      await keepChoices(transaction, id, { ...choicesOf(before), digest: 'never' }, visit.request.id);
    }, id);
    const content = html`<h1 lang="en">No more digests</h1>
<p lang="en">The queue is not written about to this address any more.</p>`;
    return { text: shown(visit, 'No more digests', content) };
  }
}

const unknownAddress = (visit: CheckoutVisit): PageAnswer => ({
  status: 404,
  text: shown(
    visit,
    'Not found',
    html`<h1 lang="en">This address ends nothing</h1><p lang="en">Open the one in the letter.</p>`,
  ),
});
