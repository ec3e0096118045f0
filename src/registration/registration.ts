// Registration at /register: one address for programs, which send JSON, and for people, who are shown a form.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../database/database.ts';
import { isBrowser, isForm, readForms } from '../http/form.ts';
import { API_HEADERS } from '../http/headers.ts';
import { bodyOf, readBytes, requireJson } from '../http/json-body.ts';
import { type PolicyReport, policyReports } from '../http/policy-reports.ts';
import { prefersStrictHandling, STRICT_APPLIED } from '../http/prefer.ts';
import { OperationalError } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import { type Clock, SECOND_MS } from '../lib/time.ts';
import { type RegistrationParts, registerMerchant } from '../merchants/register.ts';
import { lookedUpFaults, refuseIfClosed } from '../merchants/registration.ts';
import { ASSET_HEADERS, assets } from '../ui/assets.ts';
import { POLICY_REPORTS } from '../ui/page.ts';
import { type FormSettings, RegistrationForms } from './forms.ts';
import { presentRegistered } from './present.ts';
import { parseRegistration } from './request.ts';
import { RegistrationCounts, type RegistrationLimits } from './throttle.ts';

export interface RegistrationSettings extends RegistrationParts, Omit<FormSettings, 'counts' | 'pageUrl'> {
  database: Database;
  clock: Clock;
  limits: RegistrationLimits;
  /** Logs what a browser's policy stopped. */
  reportPolicy(found: PolicyReport): void;
}

/** Registers the routes of registration on `app` under its prefix, which is `/register` below the path of the base URL. */
export async function registration(app: FastifyInstance, settings: RegistrationSettings): Promise<void> {
  const { clock, directory, mode, contact, limits } = settings;
  const counts = new RegistrationCounts(limits, clock);
  const forms = new RegistrationForms({ ...settings, counts, pageUrl: `${settings.baseUrl}/register` });

  /** What a program is refused for before its body is read. */
  async function admit(request: FastifyRequest) {
    if (isForm(request.headers) && isBrowser(request.headers)) return;
    refuseIfClosed(mode, contact);
    refuseWhereTooMany(request.ip);
    requireJson(request);
  }

  function refuseWhereTooMany(ip: string) {
    const waitMs = counts.waitMs(ip);
    if (waitMs === 0) return;
    throw new OperationalError('rate_limited', 'Too many registrations. Try again later.', {
      retryAfterS: Math.ceil(waitMs / SECOND_MS),
      limit: 'registrations',
    });
  }

  async function take(request: FastifyRequest, reply: FastifyReply) {
    if (isForm(request.headers)) return forms.take(request, reply);
    const strict = prefersStrictHandling(request.headers);
    const wanted = parseRegistration(parseJson(bodyOf(request)), { strict, mode });
    refuseWhereTooMany(request.ip); // others may have come since the headers did
    const uncount = counts.count(request.ip);
    const act = { actor: 'anonymous', request_id: request.id };
    const registered = await registerMerchant(settings, wanted, act).catch((error) => {
      uncount({ lookedUp: lookedUpFaults(error, contact) !== undefined });
      throw error;
    });
    const { row } = registered;
    const known = directory.find(registered.key, clock.now());
    if (strict) reply.headers(STRICT_APPLIED);
    reply.code(201).headers(API_HEADERS);
    return JSON.stringify(presentRegistered(registered, known?.key.mode ?? row.mode));
  }

  app.setErrorHandler((error, request, reply) => forms.fail(error, request, reply));
  app.get('', (request, reply) => forms.show(request, reply));
  app.register(async (scope) => {
    scope.addHook('onRequest', admit);
    readForms(scope);
    readBytes(scope);
    scope.post('', take);
  });
  app.register(policyReports, {
    prefix: `/${POLICY_REPORTS}`,
    now: () => clock.now(),
    report: settings.reportPolicy,
  });
  for (const { name, type, content } of assets) {
    app.get(`/${name}`, (_request, reply) =>
      reply.headers({ ...ASSET_HEADERS, 'content-type': type }).send(content),
    );
  }
}
