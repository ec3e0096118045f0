// The pages for what cannot be shown or done: each says what became of the form, and what to do next.
import { type Html, html } from '../lib/html.ts';
import { MINUTE_MS } from '../lib/time.ts';
import { facts } from '../ui/facts.ts';
import type { Key } from '../ui/languages.ts';
import { registrationPage, type Visit } from './visit.ts';

/** A form that was sent again after its key had been shown. */
export function gonePage(visit: Visit): string {
  const { words } = visit;
  return problem(visit, 'register.gone.heading', [
    words.html('register.gone.lead'),
    words.html('register.gone.next'),
  ]);
}

/** A form that is not ours, or not this browser's. */
export function refusedPage(visit: Visit): string {
  return problem(visit, 'refused.heading', [visit.words.html('register.refused.lead')]);
}

/** Too many registrations; `waitMs` until the next is taken. */
export function busyPage(visit: Visit, waitMs: number): string {
  const minutes = Math.max(1, Math.ceil(waitMs / MINUTE_MS));
  return problem(visit, 'busy.heading', [visit.words.html('busy.lead', { minutes })]);
}

/** A failure of ours; `requestId` leads whoever runs this to the log. */
export function failurePage(visit: Visit, requestId: string): string {
  const { words } = visit;
  const reference = facts([[words.html('failure.reference'), html`<code>${requestId}</code>`]]);
  return problem(visit, 'failure.heading', [words.html('register.failure.lead')], reference);
}

function problem(visit: Visit, heading: Key, sentences: readonly Html[], more?: Html): string {
  const { words, address } = visit;
  const content = html`<h1>${words.html(heading)}</h1>
${sentences.map((sentence) => html`<p>${sentence}</p>\n`)}${more}
<div class="actions"><p><a class="${more ? 'secondary' : 'primary'}" href="${address()}">${words.html('register.again')}</a></p></div>`;
  return registrationPage(visit, { heading: words.text(heading), content });
}
