// The pages of registration: the form, and the key that it comes to, shown once.
import { type Html, hidden, html } from '../../lib/html.ts';
import { type FieldMarkup, type FormFault, fieldMarkup } from '../../web/markup/field.ts';
import { Languages } from '../../web/markup/languages.ts';
import { contactLink } from '../../web/markup/parts.ts';
import type { SitePage } from '../../web/pages/framed-page.ts';
import { faultSummary, problemPage } from '../../web/pages/problem.ts';
import type { PageSite, PageVisit } from '../../web/pages/visit.ts';
import { INVITE_PREFIX } from '../invite.ts';
import type { Mode } from '../merchant.ts';
import type { Registered } from '../register.ts';
import type { RegistrationField, RegistrationMode } from '../registration.ts';
import { EXAMPLE, FORM_FIELDS, LABELS, labelOf, type TypedRegistration } from './form.ts';

/** Addresses and codes run left to right in every language, and are no words. */
const LTR = { dir: 'ltr', translate: 'no', spellcheck: 'false', autocapitalize: 'none' };

const ATTRIBUTES: Record<RegistrationField, NonNullable<FieldMarkup['attributes']>> = {
  business_name: { autocomplete: 'organization' },
  email: { type: 'email', inputmode: 'email', autocomplete: 'email', ...LTR },
  website: { type: 'url', inputmode: 'url', autocomplete: 'url', ...LTR },
  invite: { autocomplete: 'off', ...LTR },
};

const PREFIX = html`<code dir="ltr" translate="no">${INVITE_PREFIX}</code>`;

export interface FormPage {
  mode: RegistrationMode;
  contact: string | undefined;
  /** What the form carries unseen. */
  guard: { seed: string; token: string };
  typed: TypedRegistration;
  faults: readonly FormFault[];
  /** Whether the form was sent already, with a guard that no longer fits. */
  stale?: boolean;
}

export function registrationForm(
  visit: RegistrationVisit,
  { mode, contact, guard, typed, faults, stale }: FormPage,
): SitePage {
  const { words, address, asked } = visit;
  const wantsInvite = mode === 'invite' || asked.invite !== undefined || typed.invite !== '';
  const fields = FORM_FIELDS.filter((name) => name !== 'invite' || wantsInvite);
  const fieldOf = (name: RegistrationField) =>
    fieldMarkup(name, {
      label: labelOf(words, name),
      hint: words.html(`${LABELS[name]}.hint`, { example: EXAMPLE, prefix: PREFIX }),
      fault: faults.find(({ field }) => field === name)?.message,
      value: typed[name],
      attributes: ATTRIBUTES[name],
    });
  const content = html`${faultSummary(words, faults)}
<div class="slip">
<h1>${words.html('register.heading')}</h1>
<p>${words.html('register.lead')}</p>
</div>
${stale && html`<p class="notice warn" role="alert">${words.html('register.stale.lead')}</p>\n`}
<form method="post" action="${address()}#errors" novalidate>
${hidden(guard)}
${fields.map(fieldOf)}
<button class="primary">${words.html('register.submit')}</button>
</form>
${mode === 'invite' && contact !== undefined && html`<p class="hint">${words.html('register.ask', { contact: contactLink(contact) })}</p>`}`;
  const heading = words.text('register.heading');
  return { heading, content, wrong: faults.length > 0 };
}

/** Shown in the form's place if registration is closed. */
export function closedPage({ words }: RegistrationVisit, contact: string | undefined): SitePage {
  const content = html`<h1>${words.html('register.closed.heading')}</h1>
<p>${words.html('register.closed.lead')}</p>
${contact !== undefined && html`<p>${words.html('register.closed.ask', { contact: contactLink(contact) })}</p>`}`;
  return { status: 403, heading: words.text('register.closed.heading'), content };
}

/** Its ending says what it is to what reads such files; a name that began with a dot would be hidden among others. */
const FILE = 'counterfoil.env';

/** `baseUrl` is where the API is reached, without a slash at its end; `mode` is what the key makes payments in. */
export function keyPage(
  { words }: RegistrationVisit,
  { key, row, merchant }: Registered,
  mode: Mode,
  baseUrl: string,
): SitePage {
  const file = html`<code dir="ltr" translate="no">${FILE}</code>`;
  const field = html`<code dir="ltr" translate="no">checkout_url</code>`;
  const payments = `${baseUrl}/v1/payments`;
  const steps = [
    html`<p>${words.html('register.next.create')}</p>\n${command(createCommand(payments, key))}`,
    html`<p>${words.html('register.next.open', { field })}</p>`,
    html`<p>${words.html('register.next.list')}</p>\n${command(authorized(payments, key))}`,
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
${command(`${authorized(`${baseUrl}/v1/api_keys/${row.id}/rotate`, key)} \\\n  -X POST`)}
</div>`;
  const heading = words.text('register.done.heading');
  return { status: 201, heading, content, wide: true, here: null };
}

/** A form that was sent again after its key had been shown. */
export function gonePage(visit: RegistrationVisit): SitePage {
  const { words } = visit;
  const sentences = [words.html('register.gone.lead'), words.html('register.gone.next')];
  return problemPage(visit, { status: 410, heading: 'register.gone.heading', sentences });
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

/** A file of environment variables as an address (RFC 2397): a link to it saves the file without a script and without another request. */
function fileAddress(baseUrl: string, key: string): string {
  const text = `COUNTERFOIL_URL=${baseUrl}\nCOUNTERFOIL_API_KEY=${key}\n`;
  return `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
}

export type RegistrationVisit = PageVisit<'invite'>;

/** `baseUrl`: of registration, without a slash at its end. */
export function registrationSite(baseUrl: string, timeZone: string): PageSite<'invite'> {
  return {
    languages: Languages.in(timeZone),
    baseUrl,
    parameters: { lang: { isKept: true }, invite: { isKept: true }, theme: {} },
    brand: 'Counterfoil',
    words: {
      skip: 'register.skip',
      refused: 'register.refused.lead',
      failed: 'register.failure.lead',
      back: 'register.again',
    },
    backAfterFailure: 'secondary',
  };
}
