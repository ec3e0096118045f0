// The page that shows a key, once, and what to do with it.
import { type Html, html } from '../../lib/html.ts';
import { framedPage } from '../../web/pages/framed-page.ts';
import { problemPage } from '../../web/pages/problem.ts';
import type { Mode } from '../merchant.ts';
import type { Registered } from '../register.ts';
import type { RegistrationVisit } from './visit.ts';

/** Its ending says what it is to what reads such files; a name that began with a dot would be hidden among others. */
const FILE = 'counterfoil.env';

/** `baseUrl` is where the API is reached, without a slash at its end; `mode` is what the key makes payments in. */
export function keyPage(
  visit: RegistrationVisit,
  { key, row, merchant }: Registered,
  mode: Mode,
  baseUrl: string,
): string {
  const { words } = visit;
  const file = html`<code dir="ltr" translate="no">${FILE}</code>`;
  const field = html`<code dir="ltr" translate="no">checkout_url</code>`;
  const payments = `${baseUrl}/v1/payments`;
  const steps = [
    html`<p>${words.html('register.next.create')}</p>\n${command(createCommand(payments, key))}`,
    html`<p>${words.html('register.next.open', { field })}</p>`,
    html`<p>${words.html('register.next.list')}</p>\n${command(listCommand(payments, key))}`,
  ];
  const content = html`<div class="slip">
<h1>${words.html('register.done.heading')}</h1>
<p>${words.html('register.done.lead', { name: merchant.name! })}</p>
${command(key)}
<p class="notice warn">${words.html('register.done.once')}</p>
<div class="actions"><p><a class="secondary" href="${fileAddress(baseUrl, key)}" download="${FILE}">${words.html('register.done.save', { file })}</a></p></div>
<p>${words.html(`register.done.${mode}`)} ${words.html('register.done.secret')}</p>
</div>
<div class="task">
<h2>${words.html('register.next.heading')}</h2>
<ol class="steps">
${steps.map((step) => html`<li>${step}</li>\n`)}</ol>
<h2>${words.html('register.rotate.heading')}</h2>
<p>${words.html('register.rotate.lead')}</p>
${command(rotateCommand(`${baseUrl}/v1/api_keys/${row.id}/rotate`, key))}
</div>`;
  const heading = words.text('register.done.heading');
  return framedPage(visit, { heading, content, wide: true, here: null });
}

/** A form that was sent again after its key had been shown. */
export function gonePage(visit: RegistrationVisit): string {
  const { words } = visit;
  const sentences = [words.html('register.gone.lead'), words.html('register.gone.next')];
  return problemPage(visit, { heading: 'register.gone.heading', sentences });
}

/** Text to be copied whole, which one click selects. */
function command(text: string): Html {
  return html`<pre class="copy code" dir="ltr" translate="no">${text}</pre>`;
}

/** An address as a word of a shell's command line (POSIX, Shell Command Language, 2.2). */
function quoted(address: string): string {
  return /^[\w:/.~-]+$/.test(address) ? address : `'${address.replaceAll("'", "'\\''")}'`;
}

const authorized = (address: string, key: string) =>
  `curl -s ${quoted(address)} \\\n  -H 'Authorization: Bearer ${key}'`;

function createCommand(address: string, key: string): string {
  return `${authorized(address, key)} \\
  -H 'Content-Type: application/json' \\
  -d '{"amount": 49.90, "currency": "EUR", "merchant_reference": "ORDER-1"}'`;
}

const listCommand = authorized;

const rotateCommand = (address: string, key: string) => `${authorized(address, key)} \\\n  -X POST`;

/** A file of environment variables as an address (RFC 2397): a link to it saves the file without a script and without another request. */
function fileAddress(baseUrl: string, key: string): string {
  const text = `COUNTERFOIL_URL=${baseUrl}\nCOUNTERFOIL_API_KEY=${key}\n`;
  return `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
}
