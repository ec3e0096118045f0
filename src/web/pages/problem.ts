// Says in the visitor's language why something cannot be shown or done, and where to go on.

import type { Limit } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { MINUTE_MS } from '../../lib/time.ts';
import { type FormFault, summaryOfFaults } from '../markup/field.ts';
import type { Key, Words } from '../markup/languages.ts';
import { facts } from '../markup/parts.ts';
import { wholeSeconds } from '../rate-limit.ts';
import type { SitePage } from './framed-page.ts';
import type { PageVisit } from './visit.ts';

interface Problem {
  status: number;
  heading: Key;
  sentences: readonly Html[];
  more?: Html;
  /** The text of the link to the page itself; the site's own if undefined. */
  back?: Key;
  look?: 'primary' | 'secondary';
}

export function problemPage(visit: PageVisit, problem: Problem): SitePage {
  const { words, address, site } = visit;
  const { status, heading, sentences, more, back = site.words.back, look = 'primary' } = problem;
  const content = html`<h1>${words.html(heading)}</h1>
${sentences.map((sentence) => html`<p>${sentence}</p>\n`)}${more}
<div class="actions"><p><a class="${look}" href="${address()}">${words.html(back)}</a></p></div>`;
  return { status, heading: words.text(heading), content };
}

/** Nothing lies at the address. It offers no choice of language or theme, which would lead elsewhere. */
export function nowherePage({ words }: PageVisit): SitePage {
  const content = html`<h1>${words.html('nowhere.heading')}</h1>
<p>${words.html('missing.lead')}</p>
<p>${words.html('front.customer')}</p>`;
  return { heading: words.text('nowhere.heading'), content, here: null };
}

/** A form that is not ours. */
export function refusedPage(visit: PageVisit): SitePage {
  const sentences = [visit.words.html(visit.site.words.refused)];
  return problemPage(visit, { status: 403, heading: 'refused.heading', sentences });
}

/** Too many forms. `waitMs` until the next is taken. */
export function busyPage(visit: PageVisit, waitMs: number, limit: Limit): SitePage {
  const minutes = Math.max(1, Math.ceil(waitMs / MINUTE_MS));
  const sentences = [visit.words.html('busy.lead', { minutes })];
  return {
    ...problemPage(visit, { status: 429, heading: 'busy.heading', sentences }),
    ...wait(waitMs, limit),
  };
}

/** What goes with a page that says that there were too many forms. */
export const wait = (waitMs: number, limit: Limit) =>
  ({
    status: 429,
    headers: { 'retry-after': String(wholeSeconds(waitMs)) },
    noted: { code: 'rate_limited', limit },
  }) as const;

/** What identifies a failure: the log holds more of it under the request's id. */
export const failureFacts = ({ words, request }: PageVisit): Html =>
  facts([[words.html('failure.reference'), html`<code>${request.id}</code>`]]);

/** A failure of ours. */
export function failedPage(visit: PageVisit): SitePage {
  const { words, site } = visit;
  return problemPage(visit, {
    status: 500,
    heading: 'failure.heading',
    sentences: [words.html(site.words.failed)],
    more: failureFacts(visit),
    look: site.backAfterFailure,
  });
}

/** The summary of a form's faults in the visitor's language. */
export const faultSummary = (words: Words, faults: readonly FormFault[]): Html | null =>
  summaryOfFaults(words.html('error.heading', { count: faults.length }), faults);
