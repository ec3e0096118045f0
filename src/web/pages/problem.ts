// Says in the visitor's language why something cannot be shown or done, and where to go on.
import { type Html, html } from '../../lib/html.ts';
import { MINUTE_MS } from '../../lib/time.ts';
import { type FormFault, summaryOfFaults } from '../markup/field.ts';
import type { Key, Words } from '../markup/languages.ts';
import { facts } from '../markup/parts.ts';
import { framedPage } from './framed-page.ts';
import type { PageVisit } from './visit.ts';

interface Problem {
  heading: Key;
  sentences: readonly Html[];
  more?: Html;
  /** The text of the link to the page itself; the site's own if undefined. */
  back?: Key;
  look?: 'primary' | 'secondary';
}

export function problemPage(visit: PageVisit, problem: Problem): string {
  const { words, address, site } = visit;
  const { heading, sentences, more, back = site.words.back, look = 'primary' } = problem;
  const content = html`<h1>${words.html(heading)}</h1>
${sentences.map((sentence) => html`<p>${sentence}</p>\n`)}${more}
<div class="actions"><p><a class="${look}" href="${address()}">${words.html(back)}</a></p></div>`;
  return framedPage(visit, { heading: words.text(heading), content });
}

/** A form that is not ours. */
export function refusedPage(visit: PageVisit): string {
  const { words, site } = visit;
  return problemPage(visit, { heading: 'refused.heading', sentences: [words.html(site.words.refused)] });
}

/** Too many forms. `waitMs` until the next is taken. */
export function busyPage(visit: PageVisit, waitMs: number): string {
  const minutes = Math.max(1, Math.ceil(waitMs / MINUTE_MS));
  return problemPage(visit, {
    heading: 'busy.heading',
    sentences: [visit.words.html('busy.lead', { minutes })],
  });
}

/** What identifies a failure: the log holds more of it under the request's id. */
export const failureFacts = ({ words, request }: PageVisit): Html =>
  facts([[words.html('failure.reference'), html`<code>${request.id}</code>`]]);

/** A failure of ours. */
export function failedPage(visit: PageVisit): string {
  const { words, site } = visit;
  return problemPage(visit, {
    heading: 'failure.heading',
    sentences: [words.html(site.words.failed)],
    more: failureFacts(visit),
    look: site.backAfterFailure,
  });
}

/** The summary of a form's faults in the visitor's language. */
export const faultSummary = (words: Words, faults: readonly FormFault[]): Html | null =>
  summaryOfFaults(words.html('error.heading', { count: faults.length }), faults);
