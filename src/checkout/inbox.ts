// A receiver of webhooks for development, at /dev/inbox: it verifies what comes, shows the last 50, and answers 500 when told to.

import type { IncomingHttpHeaders } from 'node:http';
import { type Html, html } from '../lib/html.ts';
import { jsonOr } from '../lib/text.ts';
import type { Clock } from '../lib/time.ts';
import { pathOf } from '../lib/web-address.ts';
import { bodyOf, readBytes } from '../web/json-body.ts';
import { facts, type TermPair } from '../web/markup/parts.ts';
import { isForm } from '../web/pages/form.ts';
import type { SitePage } from '../web/pages/framed-page.ts';
import { formAt, type Handler, pageAt } from '../web/pages/route.ts';
import type { CheckoutRoute, CheckoutVisit } from './visit.ts';

const KEPT = 50;
export const INBOX_PATH = '/dev/inbox';
const HEADING = 'Webhook inbox';
const NO_PAYMENT = { payment_id: undefined };

interface Kept {
  /** Milliseconds since 1970. */
  at: number;
  id: string;
  isVerified: boolean;
  answered: number;
  body: string;
}

export interface InboxParts {
  clock: Clock;
  checkoutBaseUrl: string;
  /** Whether an endpoint whose URL has the path `path` signed a webhook that came at `now` (milliseconds since 1970). */
  isSigned(
    path: string,
    received: { headers: IncomingHttpHeaders; body: Uint8Array; now: number },
  ): Promise<boolean>;
}

export function inboxRoutes({ clock, checkoutBaseUrl, isSigned }: InboxParts): CheckoutRoute[] {
  const url = checkoutBaseUrl.replace(/\/\/127\.0\.0\.1(?=[:/]|$)/, '//localhost') + INBOX_PATH;
  /** The newest first. */
  let kept: readonly Kept[] = [];
  let failsNext = false;

  const show = (visit: CheckoutVisit): SitePage => {
    const content = html`<h1 lang="en">${HEADING}</h1>
<p lang="en">Webhooks to <code>${url}</code> arrive here. Each is verified as your server should do it.
The last ${KEPT} are kept until the server stops.</p>
${failsNext ? html`<p lang="en" role="status">The next webhook is answered 500.</p>` : failForm(visit)}
${kept.length === 0 ? none(url) : kept.map((one) => shown(one, visit))}`;
    return { heading: HEADING, brand: 'Counterfoil', content, here: NO_PAYMENT };
  };

  const receive: Handler = async (request, reply) => {
    const now = clock.now();
    const bytes = bodyOf(request);
    const { headers } = request;
    const isVerified = await isSigned(pathOf(checkoutBaseUrl) + INBOX_PATH, { headers, body: bytes, now });
    const answered = failsNext ? 500 : 204;
    failsNext = false;
    const id = String(headers['webhook-id'] ?? '');
    kept = [{ at: now, id, isVerified, answered, body: bytes.toString() }, ...kept.slice(0, KEPT - 1)];
    return reply.code(answered).send();
  };

  const fail = ({ address }: CheckoutVisit) => {
    failsNext = true;
    return { to: address() };
  };
  const beside: CheckoutRoute['beside'] = (scope, takeForm) => {
    readBytes(scope);
    return (request, reply) => (isForm(request.headers) ? takeForm : receive)(request, reply);
  };
  return [pageAt(INBOX_PATH, 'anyone', show), { ...formAt(INBOX_PATH, 'anyone', fail), beside }];
}

const failForm = ({
  address,
}: CheckoutVisit): Html => html`<form method="post" action="${address()}" class="actions">
<button lang="en" class="secondary" name="answer" value="500">Answer 500 next time</button>
</form>`;

const none = (
  url: string,
): Html => html`<p lang="en">Nothing has come yet. Make an endpoint, then create a payment:</p>
<pre class="code">curl -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"url": "${url}"}' ${new URL(url).origin}/v1/webhook_endpoints</pre>`;

function shown({ at, id, isVerified, answered, body }: Kept, { words }: CheckoutVisit): Html {
  const terms: TermPair[] = [
    [
      html`Signature`,
      html`${isVerified ? 'Signature verified' : 'Not signed by an endpoint of this address'}`,
    ],
    [html`Answered`, html`<span>${answered}</span>`],
    [html`Received`, words.moment(at)],
    [html`Id`, html`<code>${id || 'none'}</code>`],
  ];
  return html`<section lang="en"><h2>${typeOf(body)}</h2>
${facts(terms)}
<details><summary>Body</summary><pre class="code">${body}</pre></details></section>`;
}

function typeOf(body: string): string {
  const told = jsonOr(body) as { type?: unknown } | null | undefined;
  return told ? String(told.type) : 'No JSON';
}
