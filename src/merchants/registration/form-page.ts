// The page of the registration form, and the page that says that registration is closed.
import { type Html, hidden, html } from '../../lib/html.ts';
import { type FieldMarkup, type FormFault, fieldMarkup } from '../../web/markup/field.ts';
import type { Words } from '../../web/markup/languages.ts';
import { contactLink } from '../../web/markup/parts.ts';
import { framedPage } from '../../web/pages/framed-page.ts';
import { faultSummary } from '../../web/pages/problem.ts';
import { INVITE_PREFIX } from '../invite.ts';
import type { RegistrationField, RegistrationMode } from '../registration.ts';
import { EXAMPLE, FORM_FIELDS, labelOf, type TypedRegistration } from './form.ts';
import type { RegistrationVisit } from './visit.ts';

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
): string {
  const { words, address, asked } = visit;
  const wantsInvite = mode === 'invite' || asked.invite !== undefined || typed.invite !== '';
  const fields = FORM_FIELDS.filter((name) => name !== 'invite' || wantsInvite);
  const fieldOf = (name: RegistrationField) =>
    fieldMarkup(name, {
      label: labelOf(words, name),
      hint: hintOf(words, name),
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
  return framedPage(visit, { heading, content, wrong: faults.length > 0 });
}

function hintOf(words: Words, name: RegistrationField): Html {
  switch (name) {
    case 'business_name':
      return words.html('register.name.hint');
    case 'email':
      return words.html('register.email.hint');
    case 'website':
      return words.html('register.website.hint', { example: EXAMPLE });
    case 'invite':
      return words.html('register.invite.hint', { prefix: PREFIX });
  }
}

/** Shown in the form's place if registration is closed. */
export function closedPage(visit: RegistrationVisit, contact: string | undefined): string {
  const { words } = visit;
  const content = html`<h1>${words.html('register.closed.heading')}</h1>
<p>${words.html('register.closed.lead')}</p>
${contact !== undefined && html`<p>${words.html('register.closed.ask', { contact: contactLink(contact) })}</p>`}`;
  return framedPage(visit, { heading: words.text('register.closed.heading'), content });
}
