// The console under /console: its pages, what they load, and the doors in, on one guard.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FILE_BYTES_MAXIMUM } from '#bank-statements';
import { hasToken } from '../../administrators/pages/cookies.ts';
import { consoleAssets } from '../../administrators/pages/frame.ts';
import { guarded } from '../../administrators/pages/guard.ts';
import * as problem from '../../administrators/pages/problem.ts';
import { type ConsoleParts, page, type Route } from '../../administrators/pages/route.ts';
import { setUpForm, showSetUp, takeSetUp } from '../../administrators/pages/set-up.ts';
import { factorIn, showSignIn, takeSignIn, timeOfDay, tooMany } from '../../administrators/pages/sign-in.ts';
import { askToSignIn, carriedIn, filledPath, signInPage } from '../../administrators/pages/sign-in-page.ts';
import { deviceOf } from '../../administrators/pages/signed-in.ts';
import {
  type ConsolePlace,
  placeOf,
  problemPlace,
  show,
  tongueIn,
  type Visit,
  visitOf,
} from '../../administrators/pages/visit.ts';
import { isStrong } from '../../administrators/sign-in.ts';
import { OperationalError } from '../../lib/errors.ts';
import { phrase } from '../../lib/phrases.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../lib/time.ts';
import { serveAssets } from '../../web/pages/assets.ts';
import { formOf, isSameOrigin, readFilesForms, readForms } from '../../web/pages/form.ts';
import { type FailureLog, showFailures } from '../../web/pages/problem.ts';
import { fromNetwork, Throttle } from '../../web/rate-limit.ts';
import { note } from '../../web/request-log.ts';

const FORM_BYTES = 32 * 1024;
/** The files of one form, with what the form puts around them. */
const FILES_BYTES = FILE_BYTES_MAXIMUM + 1024 * 1024;
/**
 * How many times as many sign-in forms with a recovery code or a passkey one address may send. They cannot be guessed and cost no
 * password hash. So they are limited apart, and a stranger cannot use up the forms of an administrator.
 */
const STRONG_SHARE = 50;

export interface ConsoleSettings extends ConsoleParts, FailureLog {
  /** How many forms of signing in one network address may send in 15 minutes. */
  signInForms: number;
  routes: readonly Route[];
}

/** Registers the console's pages, what they load, and where browsers report to, on `app`, whose prefix is the console's path. */
export async function consolePages(app: FastifyInstance, settings: ConsoleSettings): Promise<void> {
  serveAssets(app, settings, consoleAssets);
  app.register((scope) => pages(scope, settings));
}

async function pages(app: FastifyInstance, settings: ConsoleSettings): Promise<void> {
  const { signInForms, routes, ...parts } = settings;
  const place = placeOf(parts, routes);
  const throttleOf = (maximum: number) =>
    createThrottle(maximum, place.clock, (request) => deviceOf(place, request));
  const throttle = throttleOf(signInForms);
  const throttleOfStrong = throttleOf(signInForms * STRONG_SHARE);

  readForms(app, FORM_BYTES);
  app.decorateRequest('principal');
  app.addHook('preHandler', async (request) => {
    const form = request.method === 'POST' ? formOf(request) : '';
    // PostgreSQL takes no text with it, and no keyboard writes it.
    if (request.raw.url!.includes('%00') || `${form}`.includes('%00'))
      throw new OperationalError('bad_request', phrase('A text holds the character NUL.'));
  });
  const isPage = () => true;
  showFailures(app, settings, isPage, (request, reply, status, refusal) =>
    showFailure(place, request, reply, status, refusal),
  );

  /** A form of a page that is shown before the sign-in. `signsIn`: whether it holds a second factor. */
  const door =
    (take: Door, stale: Door, signsIn = false) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const visit = await visitOf(request, reply, place);
      if (!isSameOrigin(request.headers, new URL(place.baseUrl).origin, false))
        return show(visit, problem.foreign(problemPlace(visit)));
      const form = request.body as URLSearchParams;
      const factor = signsIn ? factorIn(visit, form) : undefined;
      const waitMs = await (factor && isStrong(factor) ? throttleOfStrong : throttle)(request);
      if (waitMs > 0) {
        const until = visit.now + waitMs;
        note(request, { code: 'rate_limited', limit: 'sign_in_forms' });
        if (signsIn) return tooMany(visit, form, until);
        reply.header('retry-after', String(Math.ceil(waitMs / SECOND_MS)));
        return show(visit, problem.busy(problemPlace(visit), timeOfDay(place.timeZone, until)));
      }
      return hasToken(form, visit.formKey) ? take(visit, form) : stale(visit, form);
    };
  const look =
    (page: (visit: Visit) => FastifyReply | Promise<FastifyReply>) =>
    async (request: FastifyRequest, reply: FastifyReply) =>
      page(await visitOf(request, reply, place));

  app.get('/sign-in', look(showSignIn));
  app.post('/sign-in', door(takeSignIn, signInAgain, true));
  app.get('/set-up', look(showSetUp));
  app.post('/set-up', door(takeSetUp, setUpForm));

  for (const route of [...routes, ...waysToPages(place, routes)]) addRoute(app, place, route);
  const elsewhere = guarded(place, undefined);
  app.post('', elsewhere);
  app.get('/*', elsewhere);
  app.post('/*', elsewhere);
}

function addRoute(app: FastifyInstance, place: ConsolePlace, route: Route): void {
  const { method, path, isTold, takesFiles } = route;
  const add = (scope: FastifyInstance) =>
    void scope.route({
      method,
      url: path === '/' ? '' : path,
      exposeHeadRoute: !isTold,
      handler: guarded(place, route),
    });
  if (!takesFiles) add(app);
  else
    app.register(async (scope) => {
      // The files of a stranger are not even read.
      scope.addHook('onRequest', async (request, reply) => {
        const visit = await visitOf(request, reply, place);
        if (!visit.principal) return askToSignIn(visit);
      });
      readFilesForms(scope, FILES_BYTES);
      add(scope);
    });
}

/** For each form with an address of its own: what a GET of that address leads to, the page of the form. */
function waysToPages({ pages }: ConsolePlace, routes: readonly Route[]): Route[] {
  return routes
    .filter(({ method, path }) => method === 'POST' && !pages.has(path))
    .map((form) =>
      page(form.path, 'read', ({ address, params }) => ({ to: address(filledPath(form.page, params)!) })),
    );
}

type Door = (visit: Visit, form: URLSearchParams) => FastifyReply | Promise<FastifyReply>;

/** A form without the cookie that came with its page: the browser was closed, or takes no cookies. */
const signInAgain: Door = (visit, form) => {
  const told = visit.tongue
    .say`This page was open for too long. Sign in again. If you see this twice, allow cookies for this site.`;
  return show(visit, signInPage(visit, { carried: carriedIn(form), told, status: 403 }));
};

async function showFailure(
  place: ConsolePlace,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  refusal: OperationalError | undefined,
): Promise<FastifyReply> {
  const isUnavailable = status === 503; // the store has let this one wait long enough
  const visit = isUnavailable
    ? stranger(request, reply, place)
    : await visitOf(request, reply, place).catch(() => stranger(request, reply, place));
  const shown =
    refusal === undefined
      ? problem.failure(problemPlace(visit), status, request.id)
      : refusal.code === 'not_found' && visit.principal
        ? problem.missing(problemPlace(visit))
        : problem.refused(problemPlace(visit), status, refusal.said);
  return show(visit, shown).catch(() => show(stranger(request, reply, place), shown));
}

/** A look that needs no store, for when that is what fails. */
function stranger(request: FastifyRequest, reply: FastifyReply, place: ConsolePlace): Visit {
  return {
    place,
    request,
    reply,
    now: place.clock.now(),
    theme: undefined,
    tongue: tongueIn(request, place),
    keys: false,
    query: new URLSearchParams(),
    target: '/',
    principal: undefined,
    ends: undefined,
    formKey: { kind: 'form', secret: '' },
    here: place.path,
  };
}

const WINDOW_MS = 15 * MINUTE_MS;

/**
 * `maximum`: of one network, and of one browser that `deviceOf` knows. A known browser is counted by itself, so that others in its
 * network cannot keep it out. The function returned counts a form, and gives how long to wait, in milliseconds, if it is one too
 * many; else 0.
 */
function createThrottle(
  maximum: number,
  clock: Clock,
  deviceOf: (request: FastifyRequest) => Promise<string | undefined>,
): (request: FastifyRequest) => Promise<number> {
  const ofNetwork = new Throttle(clock, WINDOW_MS, fromNetwork(maximum));
  const ofDevice = new Throttle<string>(clock, WINDOW_MS, [{ nameOf: (device) => device, maximum }]);
  return async (request) => {
    const device = await deviceOf(request);
    return device === undefined ? ofNetwork.count(request.ip) : ofDevice.count(device);
  };
}
