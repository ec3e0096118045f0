// Says in the visitor's language why something cannot be shown or done, and where to go on.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Logger } from '../../lib/log.ts';
import { MINUTE_MS } from '../../lib/time.ts';
import { asOperationalError, type Defect, noteError } from '../errors.ts';
import { type FormFault, summaryOfFaults } from '../markup/field.ts';
import type { Key, Words } from '../markup/languages.ts';
import { facts } from '../markup/parts.ts';
import { note } from '../request-log.ts';
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

/** Nothing lies at the address. It offers no choice of language or theme, which would lead elsewhere. */
export function nowherePage(visit: PageVisit): string {
  const { words } = visit;
  const content = html`<h1>${words.html('nowhere.heading')}</h1>
<p>${words.html('missing.lead')}</p>
<p>${words.html('front.customer')}</p>`;
  return framedPage(visit, { heading: words.text('nowhere.heading'), content, here: null });
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

export interface FailureLog {
  log: Logger;
  defect: Defect;
}

/** `isPage`: whether such a request is answered with a page. Others are answered as programs are. */
export function showFailures(
  app: FastifyInstance,
  { log, defect }: FailureLog,
  isPage: (request: FastifyRequest, isRefusal: boolean) => boolean,
  show: (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    refusal: OperationalError | undefined,
  ) => FastifyReply | Promise<FastifyReply>,
): void {
  app.setErrorHandler((error, request, reply) => {
    const known = asOperationalError(error);
    const refusal = known && known.status < 500 ? known : undefined;
    if (!isPage(request, refusal !== undefined)) throw error;
    if (known) noteError(request, known);
    else note(request, { code: 'internal_error' });
    if (!known) defect(error, request.id);
    else if (!refusal) log.warn({ request_id: request.id }, known.message);
    if (known?.retryAfterS !== undefined) reply.header('retry-after', String(known.retryAfterS));
    return show(request, reply, known?.status ?? 500, refusal);
  });
}
