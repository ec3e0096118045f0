// A form that was sent: a refused one is shown again by its address, an announced one waits for its confirmation.

import type { KeyRing } from '../journal/keys/key-ring.ts';
import { type Html, hidden, html } from '../lib/html.ts';
import { FIELDS, type Field } from '../payments/methods/fields.ts';
import type { Instructions, Method } from '../payments/methods/method.ts';
import { TRANSFER_FIELDS } from '../payments/methods/offer.ts';
import type { Payment } from '../payments/payment.ts';
import type { SitePage } from '../web/pages/framed-page.ts';
import type { TypedPayment } from './form.ts';
import type { CheckoutVisit } from './visit.ts';

/** The method of a transfer form: the one on offer, or the one whose instructions the form repeats, which may be offered no more. */
export function transferIn(
  form: URLSearchParams,
  id: string | undefined,
  offered: readonly Method[],
): Method | undefined {
  const method = offered.find((one) => one.id === id);
  if (method) return method.type === 'bank_transfer' ? method : undefined;
  const shown = readShown(form);
  if (id === undefined || shown?.kind !== 'transfer') return undefined;
  return {
    id,
    type: 'bank_transfer',
    name: null,
    fields: TRANSFER_FIELDS,
    fits: () => true,
    instructions: () => shown,
  };
}

function readShown(form: URLSearchParams): Instructions | undefined {
  try {
    return JSON.parse(form.get('shown') ?? '') as Instructions;
  } catch {
    return undefined; // it may not be a form of ours
  }
}

/** Whether a form says that a transfer was sent, as far as that can be told without its payment. */
export const saysSent = (form: URLSearchParams): boolean =>
  form.get('action') === 'submit' && readShown(form)?.kind === 'transfer';

/** The page of an announcement that could not be kept: not to pay again, and the same form with one button; if it is no form of ours,
 * only the way to the payment's page. */
export function unsavedPage(visit: CheckoutVisit, form?: URLSearchParams, more?: Html): SitePage {
  const { words, asked, address } = visit;
  const { method, edit } = asked;
  const content = html`<h1>${words.html('announced.heading')}</h1>
<p>${words.html('announced.unsaved')}</p>
${
  form &&
  html`<form method="post" action="${address({ method, edit })}#errors" class="actions">
${hidden(Object.fromEntries(form))}
<button class="primary">${words.html('submit.bank_transfer')}</button>
</form>`
}
<div class="actions"><p><a class="${form ? 'secondary' : 'primary'}" href="${address()}">${words.html('refused.back')}</a></p></div>
${more}`;
  return { heading: words.text('announced.heading'), content };
}

/** Longer addresses do not pass every proxy: such a form is answered with the page itself. */
const SEALED_MAXIMUM = 3000;

const cellOf = ({ id }: Payment, method: Method) => ({ table: 'checkout form', row: id, column: method.id });

/**
 * The address of the page with what was typed, sealed for this payment and method. Undefined if the request is no navigation of a browser,
 * the form has a field that is never written back, or too much was typed.
 */
export function typedAddress(
  { request, asked, address }: CheckoutVisit,
  ring: KeyRing,
  payment: Payment,
  method: Method,
  { values }: TypedPayment,
): string | undefined {
  const isSecret = method.fields.some(({ name }) => (FIELDS[name] as Field).secret);
  if (request.headers['sec-fetch-mode'] !== 'navigate' || isSecret) return undefined;
  const typed = ring.seal(cellOf(payment, method), JSON.stringify([...values]));
  if (typed.length > SEALED_MAXIMUM) return undefined;
  return `${address({ method: method.id, edit: asked.edit, typed })}#errors`;
}

/** What an address says was typed; undefined if it says nothing, or was made for another payment or method, or with a key that is gone. */
export function typedBefore(
  { asked }: CheckoutVisit,
  ring: KeyRing,
  payment: Payment,
  method: Method,
): URLSearchParams | undefined {
  if (asked.typed === undefined) return undefined;
  try {
    return new URLSearchParams(JSON.parse(ring.open(cellOf(payment, method), asked.typed)));
  } catch {
    return undefined;
  }
}
