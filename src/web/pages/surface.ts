// Serves the pages of a surface: a list of routes, each of which shows a page and may take its form.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Limit } from '../../lib/errors.ts';
import type { Html } from '../../lib/html.ts';
import type { Clock } from '../../lib/time.ts';
import { type Asset, assets } from '../markup/assets.ts';
import { pageHeaders } from '../markup/page.ts';
import { themeCookie } from '../markup/theme.ts';
import { wholeSeconds } from '../rate-limit.ts';
import { type Noted, note, noteFields } from '../request-log.ts';
import { serveAssets } from './assets.ts';
import { formOf, isSameOrigin, readForms } from './form.ts';
import { type FailureLog, failedPage, failureFacts, refusedPage, showFailures } from './problem.ts';
import { type PageSite, type PageVisit, pageVisitOf } from './visit.ts';

interface Sent {
  /** `set-cookie` and the like. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** For the log: the fields at fault. */
  faults?: Readonly<Record<string, unknown>>;
}
/** A whole page, or a picture with a `content-type` of its own. */
export interface SentPage extends Sent {
  text: string | Buffer;
  /** 200 if undefined. */
  status?: number;
  /** For the log: why it shows nothing else. */
  noted?: Noted;
}
interface Redirect extends Sent {
  to: string;
}
export type PageAnswer = SentPage | Redirect;

export type Handler = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<string | Buffer | FastifyReply>;

/** One address. Handlers throw errors: an `OperationalError` becomes the page of a refusal or of a failure. */
export interface PageRoute<Name extends string = never> {
  /** Below the surface's base URL, with a slash in front; '' for the base URL itself. */
  path: string;
  show(visit: PageVisit<Name>): PageAnswer | Promise<PageAnswer>;
  /** Takes a form of one of our pages; without it, the address takes none. */
  take?(visit: PageVisit<Name>, form: URLSearchParams): PageAnswer | Promise<PageAnswer>;
  /** The page of a form that failed, with what identifies the failure below it. If undefined, the site's own. */
  failed?(visit: PageVisit<Name>, form: URLSearchParams, more: Html): SentPage | undefined;
  /** Whether `take` also gets forms of other sites. It must refuse them itself. */
  readonly takesForeign?: true;
  /** For an address to which programs post, too: makes `scope` read what they send, and returns what takes that and forms. */
  beside?(scope: FastifyInstance, takeForm: Handler): Handler;
}

interface PageSurface<Name extends string> extends FailureLog {
  clock: Clock;
  site: PageSite<Name>;
  /** The first is where error pages lead if the request was for none of them. */
  routes: readonly PageRoute<Name>[];
  /** What its pages load beside what all pages load. */
  assets?: readonly Asset[];
  /** Which failed requests are answered with a page; if undefined, every failure and the refused forms of `routes`. */
  isPage?(request: FastifyRequest, isRefusal: boolean): boolean;
}

/** A page that says that there were too many forms. `waitMs` until the next is taken. */
export function tooManyForms(text: string, waitMs: number, limit: Limit): SentPage {
  const headers = { 'retry-after': String(wholeSeconds(waitMs)) };
  return { status: 429, text, headers, noted: { code: 'rate_limited', limit } };
}

/** Adds the routes of a surface to `app`, whose prefix is the path of the surface's base URL. */
export function servePages<Name extends string>(app: FastifyInstance, surface: PageSurface<Name>): void {
  const { site, routes } = surface;
  const headers = pageHeaders(site.baseUrl);
  const { origin } = new URL(site.baseUrl);

  /** Sets the head of an answer and returns its body: Fastify sends what a handler returns in a step of its own (see `inCohorts`). */
  const send = (request: FastifyRequest, reply: FastifyReply, answer: PageAnswer) => {
    reply.headers(headers).headers(answer.headers ?? {});
    if (answer.faults) noteFields(request, answer.faults);
    if ('to' in answer) return reply.code(303).header('location', answer.to).send();
    if (answer.noted) note(request, answer.noted);
    reply.code(answer.status ?? 200);
    // As bytes, so that the text's many pieces are freed at once, and not when the last page of a cohort is written.
    return typeof answer.text === 'string' ? Buffer.from(answer.text) : answer.text;
  };
  const answering =
    (path: string, answer: (visit: PageVisit<Name>) => PageAnswer | Promise<PageAnswer>): Handler =>
    async (request, reply) =>
      send(request, reply, await answer(pageVisitOf(request, site, path)));

  const routeOf = (request: FastifyRequest) =>
    routes.find(({ path }) => request.routeOptions.url === app.prefix + path);
  const isPage = (request: FastifyRequest, isRefusal: boolean) =>
    !isRefusal || (request.method === 'POST' && routeOf(request) !== undefined);
  showFailures(app, surface, surface.isPage ?? isPage, (request, reply, status, refusal) => {
    const route = routeOf(request) ?? routes[0]!;
    const visit = pageVisitOf(request, site, route.path);
    const { body } = request;
    const own =
      body instanceof URLSearchParams ? route.failed?.(visit, body, failureFacts(visit)) : undefined;
    const text = own?.text ?? (refusal ? refusedPage(visit) : failedPage(visit));
    return reply.send(send(request, reply, { status, text }));
  });
  serveAssets(app, surface, [...assets, ...(surface.assets ?? [])]);
  for (const route of routes) {
    const { path } = route;
    app.get(
      path,
      answering(path, (visit) => (visit.asked.theme === undefined ? route.show(visit) : keepTheme(visit))),
    );
    if (!route.take) continue;
    const takeForm = answering(path, (visit) => {
      const form = formOf(visit.request);
      const isOurs = route.takesForeign || isSameOrigin(visit.request.headers, origin, true);
      return isOurs ? route.take!(visit, form) : { status: 403, text: refusedPage(visit) };
    });
    app.register(async (scope) => {
      readForms(scope);
      scope.post(path, route.beside?.(scope, takeForm) ?? takeForm);
    });
  }
}

/** Keeps the theme that an address asks for, and leads to the address without it. */
function keepTheme<Name extends string>({ site, asked, words, address }: PageVisit<Name>): Redirect {
  const lang = asked.lang === undefined ? undefined : words.tag;
  const to = address({ ...asked, lang, theme: undefined });
  return { to, headers: { 'set-cookie': themeCookie(asked.theme!, site.baseUrl) } };
}
