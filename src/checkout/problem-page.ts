// The pages for what cannot be shown or done: each says that nothing was sent, and what to do next.
import { html } from '../lib/html.ts';
import { MINUTE_MS } from '../lib/time.ts';
import { facts } from '../ui/facts.ts';
import { help, type Subject } from './parts.ts';
import { framed, type Visit } from './visit.ts';

/** Unknown, malformed and missing ids alike: nothing of what was asked is repeated. */
export function missingPage(visit: Visit): string {
  const { words } = visit;
  return framed(visit, {
    heading: words.text('missing.heading'),
    content: html`<h1>${words.html('missing.heading')}</h1>
<p>${words.html('missing.lead')}</p>
<p>${words.html('missing.next')}</p>`,
  });
}

/** A way to pay that this payment does not have, or a form that is not ours. */
export function refusedPage(visit: Visit, kind: 'unoffered' | 'refused'): string {
  const { words } = visit;
  return framed(visit, {
    heading: words.text(`${kind}.heading`),
    content: html`<h1>${words.html(`${kind}.heading`)}</h1>
<p>${words.html(`${kind}.lead`)}</p>
<div class="actions"><p><a class="primary" href="${visit.address()}">${words.html(`${kind}.back`)}</a></p></div>`,
  });
}

/** A payment that waits to be paid, of a merchant that is suspended. */
export function suspendedPage(visit: Visit, subject: Subject): string {
  const { words } = visit;
  const { merchant_name: merchant, mode, id } = subject.payment;
  return framed(visit, {
    heading: words.text('suspended.heading'),
    merchant,
    test: mode === 'test',
    content: html`<h1>${words.html('suspended.heading')}</h1>
<p>${words.html('suspended.lead')}</p>
${facts([[words.html('fact.payment'), html`<code>${id}</code>`]])}
${help(subject)}`,
  });
}

/** Too many forms at once; `waitMs` until the next is taken. */
export function busyPage(visit: Visit, waitMs: number): string {
  const { words } = visit;
  return framed(visit, {
    heading: words.text('busy.heading'),
    content: html`<h1>${words.html('busy.heading')}</h1>
<p>${words.html('busy.lead', { minutes: Math.max(1, Math.ceil(waitMs / MINUTE_MS)) })}</p>
<div class="actions"><p><a class="primary" href="${visit.address()}">${words.html('refused.back')}</a></p></div>`,
  });
}

/** A failure of ours; `requestId` leads whoever runs this to the log. */
export function failurePage(visit: Visit, requestId: string): string {
  const { words } = visit;
  return framed(visit, {
    heading: words.text('failure.heading'),
    content: html`<h1>${words.html('failure.heading')}</h1>
<p>${words.html('failure.lead')}</p>
${facts([[words.html('failure.reference'), html`<code>${requestId}</code>`]])}
<div class="actions"><p><a class="primary" href="${visit.address()}">${words.html('refused.back')}</a></p></div>`,
  });
}
