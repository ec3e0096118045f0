// The pages of mail beside checkout: in development the letters that lie there, and the end of an administrator's digests.

import { findAdministrator } from '../../administrators/queries.ts';
import type { CheckoutRoute, CheckoutVisit } from '../../checkout/visit.ts';
import type { Journal } from '../../journal/journal.ts';
import type { KeyRing } from '../../journal/keys/key-ring.ts';
import { type Html, html } from '../../lib/html.ts';
import { pathOf } from '../../lib/web-address.ts';
import { facts, type TermPair } from '../../web/markup/parts.ts';
import { FORM_BYTES } from '../../web/pages/form.ts';
import type { SitePage } from '../../web/pages/framed-page.ts';
import { formAt, pageAt } from '../../web/pages/route.ts';
import { choicesOf, keepChoices, UNSUBSCRIBE_PATH, unsubscriber } from '../choices.ts';
import { DEV_MAIL_PATH, type DevMail } from '../dev-mail.ts';
import { LOGO_ID } from '../letters/markup.ts';
import { PRODUCT } from '../letters/staff.ts';
import type { Message } from '../message.ts';

interface PublicMailParts {
  journal: Journal;
  ring: KeyRing;
  checkoutBaseUrl: string;
  /** Where letters lie in development. */
  dev: DevMail | undefined;
}

export const mailRoutes = (parts: PublicMailParts): CheckoutRoute[] => [
  pageAt(UNSUBSCRIBE_PATH, 'anyone', (visit) => askToUnsubscribe(parts, visit)),
  {
    ...formAt(UNSUBSCRIBE_PATH, 'anyone', (visit: CheckoutVisit) => unsubscribe(parts, visit)),
    takesForeign: true, // mail programs post from nowhere: the token in the address is what counts
    beside: readBoth,
  },
  ...(parts.dev ? [mailboxRoute(parts.dev, pathOf(parts.checkoutBaseUrl) + DEV_MAIL_PATH)] : []),
];

const shown = (heading: string, content: Html): SitePage => ({
  heading,
  brand: PRODUCT,
  content,
  here: { payment_id: undefined },
});

/** The letters that lie here in development, at `path`. */
function mailboxRoute(dev: DevMail, path: string): CheckoutRoute {
  const line = ({ id, subject, to, at }: Message, { words }: CheckoutVisit) => {
    const link = html`<a href="${path}?view=${id}"><bdi>${subject}</bdi></a>`;
    return html`<li>${link}<br><span lang="en">to <bdi>${to}</bdi>, ${words.moment(at)}</span></li>\n`;
  };
  return pageAt(DEV_MAIL_PATH, 'anyone', (visit: CheckoutVisit) => {
    const { view, typed } = visit.asked;
    const { kept } = dev;
    const letter = kept.find(({ id }) => id === view);
    if (letter && typed === 'html') return { text: withLogo(letter), headers: LETTER_POLICY };
    const heading = letter ? letter.subject : 'Mail';
    const content = letter
      ? html`<p lang="en"><a class="plain" href="${path}">All letters</a></p>
<h1 dir="auto">${letter.subject}</h1>
${facts(head(letter, visit))}
<p lang="en"><a class="primary" href="${path}?view=${letter.id}&amp;typed=html">Open it as HTML</a></p>
<h2 lang="en">As text</h2>
<pre class="code" dir="auto">${letter.text}</pre>`
      : html`<h1 lang="en">Mail</h1>
<p lang="en">No mail server is set, so letters lie here. The last 50 are kept until the server stops.</p>
${
  kept.length === 0
    ? html`<p lang="en">Nothing has come yet. Create a payment with a <code>customer.email</code> and send its link.</p>`
    : html`<ul>${kept.map((one) => line(one, visit))}</ul>`
}`;
    return shown(heading, content);
  });
}

/** A letter has its styles in itself, as mail programs want it. */
const LETTER_POLICY = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
};

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
function askToUnsubscribe({ ring }: PublicMailParts, { asked, address }: CheckoutVisit): SitePage {
  const { from = '' } = asked;
  if (unsubscriber(ring, from) === undefined) return UNKNOWN_ADDRESS;
  const content = html`<h1 lang="en">No more digests?</h1>
<p lang="en">The queue is then not written about to this address. Under Your account in the console it can be chosen again.</p>
<form method="post" action="${address({ from })}"><button class="primary" lang="en">End the digests</button></form>`;
  return shown('No more digests?', content);
}

/** RFC 8058 (3.1) has mail programs send either type of form. What it holds does not count. */
const readBoth: NonNullable<CheckoutRoute['beside']> = (scope, takeForm) => {
  scope.addContentTypeParser('multipart/form-data', { parseAs: 'buffer', bodyLimit: FORM_BYTES }, () =>
    Promise.resolve(new URLSearchParams()),
  );
  return takeForm;
};

async function unsubscribe({ ring, journal }: PublicMailParts, visit: CheckoutVisit): Promise<SitePage> {
  const id = unsubscriber(ring, visit.asked.from ?? '');
  if (id === undefined) return UNKNOWN_ADDRESS;
  await journal.commit(async (transaction) => {
    const before = await findAdministrator(transaction, id);
    if (!before || choicesOf(before).digest === 'never') return;
    await keepChoices(transaction, id, { ...choicesOf(before), digest: 'never' }, visit.request.id);
  }, id);
  const content = html`<h1 lang="en">No more digests</h1>
<p lang="en">The queue is not written about to this address any more.</p>`;
  return shown('No more digests', content);
}

const UNKNOWN_ADDRESS: SitePage = {
  status: 404,
  ...shown(
    'Not found',
    html`<h1 lang="en">This address ends nothing</h1><p lang="en">Open the one in the letter.</p>`,
  ),
};
