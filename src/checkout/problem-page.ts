// The pages for what cannot be shown or done: each says that nothing was sent, and what to do next.
import { html } from '../lib/html.ts';
import { facts } from '../web/markup/parts.ts';
import { framedPage } from '../web/pages/framed-page.ts';
import { problemPage } from '../web/pages/problem.ts';
import { help, type PaymentSubject } from './parts.ts';
import { takeBack } from './take-back.ts';
import type { CheckoutVisit } from './visit.ts';

/** Unknown, malformed and missing ids alike. Nothing of what was asked is repeated. */
export function missingPage(visit: CheckoutVisit): string {
  const { words } = visit;
  return framedPage(visit, {
    heading: words.text('missing.heading'),
    here: { payment_id: undefined },
    content: html`<h1>${words.html('missing.heading')}</h1>
<p>${words.html('missing.lead')}</p>
<p>${words.html('missing.next')}</p>`,
  });
}

/** A way to pay that this payment does not have. */
export function unofferedPage(visit: CheckoutVisit): string {
  const sentences = [visit.words.html('unoffered.lead')];
  return problemPage(visit, { heading: 'unoffered.heading', sentences, back: 'unoffered.back' });
}

/** A payment that waits to be paid, of a merchant that is suspended. */
export function suspendedPage(visit: CheckoutVisit, subject: PaymentSubject): string {
  const { words } = visit;
  const { merchant_name: brand, mode, id, announced_at } = subject.payment;
  const heading = announced_at === null ? 'suspended.heading' : 'announced.heading';
  const time = announced_at === null ? '' : words.moment(announced_at);
  return framedPage(visit, {
    heading: words.text(heading),
    brand,
    test: mode === 'test',
    content: html`<h1>${words.html(heading)}</h1>
<p>${
      announced_at === null
        ? html`${words.html('suspended.lead')} ${words.html('money.sent', { merchant: brand })}`
        : words.html('announced.kept', { merchant: brand, time })
    }</p>
${facts([[words.html('fact.payment'), html`<code>${id}</code>`]])}
<div class="exits">${takeBack(visit, subject)}</div>`,
    help: help(subject),
    colour: subject.profile.colour,
  });
}
