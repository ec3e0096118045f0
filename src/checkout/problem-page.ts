// The pages for what cannot be shown or done: each says that nothing was sent, and what to do next.
import { html } from '../lib/html.ts';
import { framed } from '../pages/framed.ts';
import { problemPage, reference } from '../pages/problem.ts';
import { facts } from '../ui/facts.ts';
import { help, type Subject } from './parts.ts';
import type { Visit } from './visit.ts';

/** Unknown, malformed and missing ids alike. Nothing of what was asked is repeated. */
export function missingPage(visit: Visit): string {
  const { words } = visit;
  return framed(visit, {
    heading: words.text('missing.heading'),
    here: { payment_id: undefined },
    content: html`<h1>${words.html('missing.heading')}</h1>
<p>${words.html('missing.lead')}</p>
<p>${words.html('missing.next')}</p>`,
  });
}

/** A way to pay that this payment does not have, or a form that is not ours. */
export function refusedPage(visit: Visit, kind: 'unoffered' | 'refused'): string {
  const sentences = [visit.words.html(`${kind}.lead`)];
  return problemPage(visit, { heading: `${kind}.heading`, sentences, back: `${kind}.back` });
}

/** A payment that waits to be paid, of a merchant that is suspended. */
export function suspendedPage(visit: Visit, subject: Subject): string {
  const { words } = visit;
  const { merchant_name: brand, mode, id } = subject.payment;
  return framed(visit, {
    heading: words.text('suspended.heading'),
    brand,
    test: mode === 'test',
    content: html`<h1>${words.html('suspended.heading')}</h1>
<p>${words.html('suspended.lead')}</p>
${facts([[words.html('fact.payment'), html`<code>${id}</code>`]])}
${help(subject)}`,
  });
}

/** A failure of ours. `requestId` leads the operator to the log. */
export function failurePage(visit: Visit, requestId: string): string {
  const { words } = visit;
  return problemPage(visit, {
    heading: 'failure.heading',
    sentences: [words.html('failure.lead')],
    more: reference(words, requestId),
    back: 'refused.back',
  });
}
