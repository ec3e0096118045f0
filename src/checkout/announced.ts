// "I have sent the transfer": recognised in any form, so that it is kept whatever the form is refused for.
import { type Html, hidden, html } from '../lib/html.ts';
import type { Instructions, Method } from '../payments/methods/method.ts';
import { TRANSFER_FIELDS } from '../payments/methods/offer.ts';
import { framedPage } from '../web/pages/framed-page.ts';
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
export function unsavedPage(visit: CheckoutVisit, form?: URLSearchParams, more?: Html): string {
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
  return framedPage(visit, { heading: words.text('announced.heading'), content });
}
