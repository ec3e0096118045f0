// The console under /console: its pages, what they load, and the doors in, on one guard.
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type PolicyReport, policyReports } from '../http/policy-reports.ts';
import { note, noteFields } from '../http/request-log.ts';
import { OperationalError } from '../lib/errors.ts';
import { SECOND_MS } from '../lib/time.ts';
import { ASSET_HEADERS } from '../ui/assets.ts';
import { POLICY_REPORTS } from '../ui/page.ts';
import { consoleAssets } from './assets.ts';
import { hasToken, isFromOurPage } from './form-guard.ts';
import { answer } from './guard.ts';
import * as problem from './problem.ts';
import type { ConsoleParts } from './route.ts';
import { routes } from './routes.ts';
import { findRoute } from './routing.ts';
import { setUpForm, showSetUp, takeSetUp } from './set-up.ts';
import { showSignIn, takeFactor, takePassword } from './sign-in.ts';
import { carriedIn, signInPage } from './sign-in-page.ts';
import { timeOfDay } from './sign-in-whole.ts';
import { deviceOf } from './signed-in.ts';
import { createThrottle } from './throttle.ts';
import { type Place, placeOf, seeOther, show, type Visit, visitOf } from './visit.ts';

const FORM_BYTES = 32 * 1024;
const FORM_TYPE = 'application/x-www-form-urlencoded';

export interface ConsoleSettings extends ConsoleParts {
  /** How many forms of signing in one network address may send in 15 minutes. */
  signInForms: number;
  /** A failure as the contract knows it; nothing where it is a defect. */
  asOperationalError(error: unknown): OperationalError | undefined;
  /** Logs a failure whose page only shows the request's id. */
  report(error: unknown, requestId: string): void;
  /** Logs that a page could not be shown for now. */
  warn(message: string, requestId: string): void;
  /** Logs what a browser's policy stopped. */
  reportPolicy(found: PolicyReport): void;
}

/** Registers the console's pages, what they load, and where browsers report to, on `app`, whose prefix is the console's path. */
export async function consolePages(app: FastifyInstance, settings: ConsoleSettings): Promise<void> {
  for (const { name, type, content } of consoleAssets) {
    app.get(`/${name}`, (_request, reply) =>
      reply.headers({ ...ASSET_HEADERS, 'content-type': type }).send(content),
    );
  }
  app.register(policyReports, {
    prefix: `/${POLICY_REPORTS}`,
    now: () => settings.clock.now(),
    report: settings.reportPolicy,
  });
  app.register((scope) => pages(scope, settings));
}

async function pages(app: FastifyInstance, settings: ConsoleSettings): Promise<void> {
  const { signInForms, asOperationalError, report, warn, reportPolicy: _, ...parts } = settings;
  const place = placeOf(parts);
  const throttle = createThrottle(signInForms, place.clock, (request) => deviceOf(place, request));

  app.addContentTypeParser(
    FORM_TYPE,
    { parseAs: 'buffer', bodyLimit: FORM_BYTES },
    (_request, body: Buffer, done) => {
      if (isUtf8(body)) done(null, new URLSearchParams(body.toString()));
      else done(new OperationalError('bad_request', 'The form is not UTF-8.'));
    },
  );
  app.decorateRequest('principal');
  app.addHook('preHandler', async ({ method, body, raw }) => {
    if (method === 'POST' && !(body instanceof URLSearchParams))
      throw new OperationalError('unsupported_media_type', `The form must be ${FORM_TYPE}.`);
    // PostgreSQL takes no text with it, and no keyboard writes it.
    if (raw.url!.includes('%00') || (body instanceof URLSearchParams && `${body}`.includes('%00')))
      throw new OperationalError('bad_request', 'A text holds the character NUL.');
  });
  app.setErrorHandler((error, request, reply) =>
    tell(error, request, reply, place, { asOperationalError, report, warn }),
  );

  /** A form of a page that is shown before anybody is signed in. */
  const door =
    (take: (visit: Visit, form: URLSearchParams) => FastifyReply | Promise<FastifyReply>, stale: Door) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const visit = await visitOf(request, reply, place);
      if (!isFromOurPage(request.headers, new URL(place.baseUrl).origin))
        return show(visit, problem.foreign(place.path));
      const waitMs = await throttle(request);
      if (waitMs > 0) {
        reply.header('retry-after', String(Math.ceil(waitMs / SECOND_MS)));
        note(request, { code: 'rate_limited', limit: 'sign_in_forms' });
        return show(visit, problem.busy(place.path, timeOfDay(place.timeZone, visit.now + waitMs)));
      }
      const form = request.body as URLSearchParams;
      return hasToken(form, visit.formKey) ? take(visit, form) : stale(visit, form);
    };
  const look =
    (page: (visit: Visit) => FastifyReply | Promise<FastifyReply>) =>
    async (request: FastifyRequest, reply: FastifyReply) =>
      page(await visitOf(request, reply, place));

  app.get('/sign-in', look(showSignIn));
  app.post(
    '/sign-in',
    door((visit, form) => takePassword(visit, form, routes), signInAgain),
  );
  app.get(
    '/sign-in/factor',
    look((visit) => seeOther(visit, `${place.path}/sign-in`)),
  );
  app.post(
    '/sign-in/factor',
    door((visit, form) => takeFactor(visit, form, routes), signInAgain),
  );
  app.get('/set-up', look(showSetUp));
  app.post('/set-up', door(takeSetUp, setUpForm));

  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path === '/' ? '' : route.path,
      exposeHeadRoute: !route.isTold,
      handler: async (request, reply) => {
        const params = request.params as Record<string, string>;
        return answer(await visitOf(request, reply, place), routes, { route, params });
      },
    });
  }
  const elsewhere = async (request: FastifyRequest, reply: FastifyReply) => {
    const visit = await visitOf(request, reply, place);
    return answer(visit, routes, undefined);
  };
  if (!findRoute(routes, 'GET', '/')) app.get('', elsewhere);
  app.post('', elsewhere);
  app.get('/*', elsewhere);
  app.post('/*', elsewhere);
}

type Door = (visit: Visit, form: URLSearchParams) => FastifyReply | Promise<FastifyReply>;

/** The form of somebody whose browser did not send the cookie that came with the page: it was closed, or takes none. */
const signInAgain: Door = (visit, form) => {
  const told =
    'This page was older than your browser remembers. Sign in again; if you see this twice, allow cookies for this site.';
  return show(visit, signInPage(visit, { carried: carriedIn(form), told, status: 403 }));
};

/** The page of whatever was thrown. */
async function tell(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
  { asOperationalError, report, warn }: Pick<ConsoleSettings, 'asOperationalError' | 'report' | 'warn'>,
): Promise<FastifyReply> {
  const known = asOperationalError(error);
  note(request, { code: known?.code ?? 'internal_error' });
  if (known?.details) noteFields(request, known.details);
  if (!known) report(error, request.id);
  else if (known.status >= 500) warn(known.message, request.id);
  if (known?.retryAfterS !== undefined) reply.header('retry-after', String(known.retryAfterS));
  const isUnavailable = known !== undefined && known.status >= 500; // the store has let this one wait long enough
  const visit = isUnavailable
    ? stranger(request, reply, place)
    : await visitOf(request, reply, place).catch(() => stranger(request, reply, place));
  const shown =
    known === undefined || known.status >= 500
      ? problem.failure(place.path, known?.status ?? 500, request.id)
      : known.code === 'not_found' && visit.principal
        ? problem.missing(place.path)
        : problem.refused(place.path, known.status, known.message);
  return show(visit, shown).catch(() => show(stranger(request, reply, place), shown));
}

/** A look that needs no store, for when that is what fails. */
function stranger(request: FastifyRequest, reply: FastifyReply, place: Place): Visit {
  return {
    place,
    request,
    reply,
    now: place.clock.now(),
    theme: undefined,
    keys: false,
    query: new URLSearchParams(),
    target: '/',
    principal: undefined,
    formKey: { kind: 'form', secret: '' },
    here: place.path,
  };
}
