// The console under /console: its pages, what they load, and the doors in, on one guard.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FILE_BYTES_MAXIMUM } from '#bank-statements';
import { hasToken } from '../../administrators/pages/cookies.ts';
import { consoleAssets, framed } from '../../administrators/pages/frame.ts';
import { admit } from '../../administrators/pages/guard.ts';
import { hasFaults } from '../../administrators/pages/parts.ts';
import * as problem from '../../administrators/pages/problem.ts';
import {
  type ConsoleParts,
  form,
  type Outcome,
  page,
  type Route,
  type Shown,
  type Visit,
} from '../../administrators/pages/route.ts';
import { setUpForm, showSetUp, takeSetUp } from '../../administrators/pages/set-up.ts';
import { factorIn, showSignIn, takeSignIn, timeOfDay, tooMany } from '../../administrators/pages/sign-in.ts';
import { askToSignIn, carriedIn, filledPath, signInPage } from '../../administrators/pages/sign-in-page.ts';
import { deviceOf } from '../../administrators/pages/signed-in.ts';
import {
  type ConsolePlace,
  keepPreference,
  placeOf,
  strangerOf,
  visitOf,
} from '../../administrators/pages/visit.ts';
import { isStrong } from '../../administrators/sign-in.ts';
import { type Clock, MINUTE_MS } from '../../lib/time.ts';
import { pageHeaders } from '../../web/markup/page.ts';
import { type FailureLog, servePages } from '../../web/pages/surface.ts';
import { fromNetwork, Throttle, wholeSeconds } from '../../web/rate-limit.ts';
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
  const { signInForms, routes, defect, log, ...parts } = settings;
  const place = placeOf(parts, routes);
  app.decorateRequest('principal');
  servePages<Visit, Shown>(app, {
    ...{ log, defect, clock: place.clock },
    assets: consoleAssets,
    origin: new URL(place.baseUrl).origin,
    formBytes: FORM_BYTES,
    filesBytes: FILES_BYTES,
    trustsUnsaid: false,
    routes: [...routes, ...waysToPages(place, routes), ...doors(place, signInForms), ...NOWHERE],
    visit: (request) => visitOf(request, place),
    stranger: (request) => ({ ...strangerOf(request, place), here: place.path }),
    keep: keepPreference,
    admit,
    frame: async (visit, shown) => framed(visit, shown, visit.principal ? await place.waiting() : 0),
    headers: (visit, answer) => headersOf(place, visit, answer),
    foreign: problem.foreign,
    failed: (visit, _route, status, refusal) =>
      refusal === undefined
        ? problem.failure(visit, status, visit.request.id)
        : refusal.code === 'not_found' && visit.principal
          ? problem.missing(visit)
          : problem.refused(visit, status, refusal.said),
    isPage: () => true,
  });
}

/** A form that was refused, shown with what was typed. */
const REFUSED = [409, 422];
/** Lets a browser keep the page for going back: it cannot ask for a form's answer again. Signing out removes it (`Clear-Site-Data`). */
const KEPT_FOR_BACK = { 'cache-control': 'private, no-cache' };

/** Those of all pages, with a script of its own, and with an Origin header to itself (see `isSameOrigin`). */
function headersOf({ baseUrl }: ConsoleParts, { nonce, principal, request }: Visit, answer: Outcome) {
  const isPage = 'content' in answer;
  const status = answer.status ?? (isPage && hasFaults(answer.faults) ? 422 : 200);
  return {
    ...pageHeaders(`${baseUrl}/console`, isPage ? nonce : undefined),
    'referrer-policy': 'same-origin',
    ...(principal && request.method === 'POST' && REFUSED.includes(status) && KEPT_FOR_BACK),
  };
}

/** For each form with an address of its own: what a GET of that address leads to, the page of the form. */
const waysToPages = ({ pages }: ConsolePlace, routes: readonly Route[]): Route[] =>
  routes
    .filter(({ method, path }) => method === 'POST' && !pages.has(path))
    .map((sent) =>
      page(sent.path, 'read', ({ address, params }) => ({ to: address(filledPath(sent.page, params)!) })),
    );

const nothing = (visit: Visit) => (visit.principal ? problem.missing(visit) : askToSignIn(visit));
const NOWHERE = [
  form<Visit>('/', 'anyone', nothing),
  page<Visit>('/*', 'anyone', nothing),
  form<Visit>('/*', 'anyone', nothing),
];

/** The pages that are shown before the sign-in, and their forms. */
function doors(place: ConsolePlace, signInForms: number): Route<Visit>[] {
  const throttleOf = (maximum: number) =>
    createThrottle(maximum, place.clock, (request) => deviceOf(place, request));
  const throttle = throttleOf(signInForms);
  const throttleOfStrong = throttleOf(signInForms * STRONG_SHARE);
  /** Counts a form. `signsIn`: whether it holds a second factor. */
  const busy = async (visit: Visit, signsIn: boolean): Promise<Outcome | undefined> => {
    const { request, now, timeZone } = visit;
    const factor = signsIn ? factorIn(visit) : undefined;
    const waitMs = await (factor && isStrong(factor) ? throttleOfStrong : throttle)(request);
    if (waitMs === 0) return undefined;
    note(request, { code: 'rate_limited', limit: 'sign_in_forms' });
    if (signsIn) return tooMany(visit, now + waitMs);
    const headers = { 'retry-after': String(wholeSeconds(waitMs)) };
    return { ...problem.busy(visit, timeOfDay(timeZone, now + waitMs)), headers };
  };
  const isFresh = ({ form, formKey }: Visit) => hasToken(form, formKey);
  return [
    page<Visit>('/sign-in', 'anyone', showSignIn),
    form<Visit>(
      '/sign-in',
      'anyone',
      async (visit) => (await busy(visit, true)) ?? (isFresh(visit) ? takeSignIn(visit) : signInAgain(visit)),
    ),
    page<Visit>('/set-up', 'anyone', showSetUp),
    form<Visit>(
      '/set-up',
      'anyone',
      async (visit) => (await busy(visit, false)) ?? (isFresh(visit) ? takeSetUp(visit) : setUpForm(visit)),
    ),
  ];
}

/** A form without the cookie that came with its page: the browser was closed, or takes no cookies. */
function signInAgain(visit: Visit): Shown {
  const { form, say } = visit;
  const told = say`This page was open for too long. Sign in again. If you see this twice, allow cookies for this site.`;
  return signInPage(visit, { carried: carriedIn(form), told, status: 403 });
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
