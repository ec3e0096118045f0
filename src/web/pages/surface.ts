// Serves the pages of a surface: the one way of every request for a page and of every form, from the route to what is sent.
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OperationalError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Clock } from '../../lib/time.ts';
import { asOperationalError, type Defect, noteError } from '../errors.ts';
import type { Asset } from '../markup/assets.ts';
import { note, noteFields } from '../request-log.ts';
import { serveAssets } from './assets.ts';
import { FORM_BYTES, formOf, isSameOrigin, readFilesForms, readForms } from './form.ts';
import type { Download, Framed, Handler, PageAnswer, PageRoute, Redirect } from './route.ts';

export interface FailureLog {
  log: Logger;
  defect: Defect;
}

/** One request as a page's own code sees it. */
export interface AnyVisit {
  request: FastifyRequest;
  /** The values of a form; empty with GET. */
  form: URLSearchParams;
  /** Lines of `set-cookie` that are due whatever the answer is. */
  cookies?: readonly string[];
}

/** What differs from surface to surface. */
interface Surface<V extends AnyVisit, S extends Framed> extends FailureLog {
  clock: Clock;
  /** Of its addresses. */
  origin: string;
  /** The first is where error pages lead if the request was for none of them. */
  routes: readonly PageRoute<V, PageAnswer<S>>[];
  /** What its pages load. */
  assets: readonly Asset[];
  /** How long its forms may be, where not as long as all, and those with files. */
  formBytes?: number;
  filesBytes?: number;
  /** Whether a form counts as one of ours that does not say where it comes from. */
  trustsUnsaid: boolean;
  visit(request: FastifyRequest, route: PageRoute<V, PageAnswer<S>>): V | Promise<V>;
  /** A visit that needs no store, for when that is what fails. */
  stranger(request: FastifyRequest, route: PageRoute<V, PageAnswer<S>>): V;
  /** What an address asks to keep, such as the theme: leads to the address without it. Undefined where it asks for nothing. */
  keep(visit: V): Redirect | undefined;
  /** What a request is answered instead, if it may not do what it asks for. Called without a body too, before files are read. */
  admit?(
    visit: V,
    route: PageRoute<V, PageAnswer<S>>,
  ): PageAnswer<S> | undefined | Promise<PageAnswer<S> | undefined>;
  frame(visit: V, page: S): string | Promise<string>;
  headers(visit: V, answer: PageAnswer<S>): Readonly<Record<string, string>>;
  /** The page of a form that comes from somewhere else. */
  foreign(visit: V): S;
  /** The page of a request that failed. `refusal`: what the service said to it; undefined if it is a failure of ours. */
  failed(
    visit: V,
    route: PageRoute<V, PageAnswer<S>>,
    status: number,
    refusal: OperationalError | undefined,
  ): PageAnswer<S>;
  /** Which failed requests are answered with a page. Others are answered as programs are. */
  isPage(request: FastifyRequest, isRefusal: boolean): boolean;
}

/** Adds the routes of a surface to `app`, whose prefix is the path of the surface's base URL. */
export function servePages<V extends AnyVisit, S extends Framed>(
  app: FastifyInstance,
  surface: Surface<V, S>,
): void {
  serveAssets(app, surface, surface.assets);
  app.register(async (scope) => {
    readForms(scope, surface.formBytes ?? FORM_BYTES);
    showFailures(scope, surface);
    for (const route of surface.routes) addRoute(scope, surface, route);
  });
}

const urlOf = ({ prefix }: FastifyInstance, path: string) => (path === '/' && prefix !== '' ? '' : path);

function addRoute<V extends AnyVisit, S extends Framed>(
  app: FastifyInstance,
  surface: Surface<V, S>,
  route: PageRoute<V, PageAnswer<S>>,
): void {
  const { method, path, isTold, takesFiles } = route;
  const answer: Handler = async (request, reply) => {
    if (method === 'POST') formOf(request);
    const visit = await surface.visit(request, route);
    return send(surface, route, visit, reply, await answerOf(surface, route, visit));
  };
  const add = (scope: FastifyInstance, handler: Handler) =>
    void scope.route({ method, url: urlOf(app, path), ...(isTold && { exposeHeadRoute: false }), handler });
  if (!takesFiles && !route.beside) add(app, answer);
  else
    app.register(async (scope) => {
      if (takesFiles) {
        readFilesForms(scope, surface.filesBytes!);
        scope.addHook('onRequest', async (request, reply) => {
          const visit = await surface.visit(request, route);
          const refusal = await surface.admit?.(visit, route);
          if (refusal) return reply.send(await send(surface, route, visit, reply, refusal));
        });
      }
      add(scope, route.beside?.(scope, answer) ?? answer);
    });
}

/** Checks, in this order, where a form comes from, what the address asks to keep, and who may, before the route answers. */
async function answerOf<V extends AnyVisit, S extends Framed>(
  surface: Surface<V, S>,
  route: PageRoute<V, PageAnswer<S>>,
  visit: V,
): Promise<PageAnswer<S>> {
  const isForm = route.method === 'POST';
  const isOurs = () => isSameOrigin(visit.request.headers, surface.origin, surface.trustsUnsaid);
  if (isForm && !route.takesForeign && !isOurs()) return surface.foreign(visit);
  const kept = isForm ? undefined : surface.keep(visit);
  return kept ?? (await surface.admit?.(visit, route)) ?? route.answer(visit);
}

/** Sets the head of an answer and returns its body: Fastify sends what a handler returns in a step of its own (see `inCohorts`). */
async function send<V extends AnyVisit, S extends Framed>(
  surface: Surface<V, S>,
  route: PageRoute<V, PageAnswer<S>>,
  visit: V,
  reply: FastifyReply,
  answer: PageAnswer<S>,
) {
  const { faults = {}, noted } = answer;
  noteFields(visit.request, faults);
  if (noted) note(visit.request, noted);
  if (visit.cookies && !route.isBackground) reply.header('set-cookie', visit.cookies);
  const body = await bodyOf(surface, visit, answer);
  reply.headers('stream' in answer ? downloadHeaders(answer) : surface.headers(visit, answer));
  reply.headers(answer.headers ?? {});
  if ('to' in answer) {
    const isAfterForm = route.method === 'POST' && !answer.to.includes('#');
    reply.code(303).header('location', isAfterForm ? `${answer.to}#main` : answer.to);
  } else reply.code(answer.status ?? (Object.keys(faults).length > 0 ? 422 : 200));
  return body;
}

async function bodyOf<V extends AnyVisit, S extends Framed>(
  surface: Surface<V, S>,
  visit: V,
  answer: PageAnswer<S>,
): Promise<string | Buffer | Readable> {
  if ('to' in answer) return '';
  if ('stream' in answer) return answer.stream;
  const text = 'text' in answer ? answer.text : await surface.frame(visit, answer);
  // As bytes, so that the text's many pieces are freed at once, and not when the last page of a cohort is written.
  return typeof text === 'string' ? Buffer.from(text) : text;
}

const downloadHeaders = ({ type, name }: Download) => ({
  'content-type': type,
  'content-disposition': `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
});

function showFailures<V extends AnyVisit, S extends Framed>(
  app: FastifyInstance,
  surface: Surface<V, S>,
): void {
  const { log, defect, routes } = surface;
  const isRouteOf = (request: FastifyRequest) => (route: PageRoute<V, PageAnswer<S>>) =>
    (route.method === 'POST') === (request.method === 'POST') &&
    request.routeOptions.url === app.prefix + urlOf(app, route.path);
  app.setErrorHandler((error, request, reply) => {
    const known = asOperationalError(error);
    const refusal = known && known.status < 500 ? known : undefined;
    if (!surface.isPage(request, refusal !== undefined)) throw error;
    if (known) noteError(request, known);
    else note(request, { code: 'internal_error' });
    if (!known) defect(error, request.id);
    else if (!refusal) log.warn({ request_id: request.id }, known.message);
    if (known?.retryAfterS !== undefined) reply.header('retry-after', String(known.retryAfterS));
    const route = routes.find(isRouteOf(request)) ?? routes[0]!;
    const status = known?.status ?? 500;
    const show = async (visit: V) => {
      const page = { ...surface.failed(visit, route, status, refusal), status };
      return reply.send(await send(surface, route, visit, reply, page));
    };
    const asStranger = () => show(surface.stranger(request, route));
    // The store has let a request that is answered 503 wait long enough.
    if (status === 503) return asStranger();
    return Promise.resolve(surface.visit(request, route)).then(show).catch(asStranger);
  });
}
