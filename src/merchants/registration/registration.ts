// Registration at /register: one address for people, who are shown a form, and for programs, which send JSON.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { described } from '../../web/endpoint.ts';
import type { Description } from '../../web/openapi.ts';
import type { FailureLog } from '../../web/pages/failure.ts';
import { isBrowser, isForm } from '../../web/pages/form.ts';
import { servePages } from '../../web/pages/surface.ts';
import { FormRoute } from './form-route.ts';
import { REGISTRATION_SURFACE, type RegistrationSite, registrationEndpoint } from './programs.ts';
import { RegistrationCounts, type RegistrationLimits } from './throttle.ts';
import { registrationSite } from './visit.ts';

export interface RegistrationSettings extends RegistrationSite, FailureLog {
  timeZone: string;
  limits: RegistrationLimits;
}

/** Registers the routes of registration on `app` under its prefix, which is `/register` below the path of the base URL. */
export async function registration(app: FastifyInstance, settings: RegistrationSettings): Promise<void> {
  const { clock, limits, baseUrl, timeZone } = settings;
  servePages(app, {
    ...settings,
    site: registrationSite(`${baseUrl}/register`, timeZone),
    routes: [new FormRoute(settings, new RegistrationCounts(limits, clock))],
    isPage: (request, isRefusal) => isFormSent(request) || (!isRefusal && request.method !== 'POST'),
  });
}

/** What the OpenAPI document says of /register. */
export function registrationDescription(settings: RegistrationSettings): Description {
  const counts = new RegistrationCounts(settings.limits, settings.clock);
  return described(REGISTRATION_SURFACE, [registrationEndpoint(settings, counts)]);
}

/** Whether a browser sends a form. Other POSTs are answered as programs are. */
const isFormSent = ({ method, headers }: FastifyRequest) =>
  method === 'POST' && isForm(headers) && isBrowser(headers);
