// Registration at /register: one address for people, who are shown a form, and for programs, which send JSON.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { derivedSecret, sha256Hex } from '../../lib/secrets.ts';
import { described } from '../../web/endpoint.ts';
import type { Description } from '../../web/openapi.ts';
import {
  browserSecret,
  holdsToken,
  isBrowser,
  isForm,
  isRandom,
  newBrowserSecret,
  newRandom,
  tokenOf,
} from '../../web/pages/form.ts';
import { busyPage } from '../../web/pages/problem.ts';
import { formAt, pageAt } from '../../web/pages/route.ts';
import { type SiteAnswer, type SiteRoute, serveSite } from '../../web/pages/site.ts';
import type { FailureLog } from '../../web/pages/surface.ts';
import { isInactive, isShownAgain, KEY_PREFIX } from '../merchant.ts';
import { findRegistered, type KeyByMode, type Registered, registerMerchant } from '../register.ts';
import {
  lookedUpFaults,
  type Registration,
  type RegistrationFaults,
  registrationFaults,
} from '../registration.ts';
import { formFaults, RegistrationCounts, type RegistrationLimits, typedIn, wantedBy } from './form.ts';
import {
  closedPage,
  type FormPage,
  gonePage,
  keyPage,
  type RegistrationVisit,
  registrationForm,
  registrationSite,
} from './form-page.ts';
import {
  REGISTRATION_SURFACE,
  type RegistrationSite,
  registrationEndpoint,
  takePrograms,
} from './programs.ts';

type Outcome = { registered: Registered } | { faults: RegistrationFaults } | { waitMs: number };

class RegistrationForms {
  readonly #parts: RegistrationSite;
  readonly #counts: RegistrationCounts;
  /** Forms that are being worked on, by one of their keys: the same form sent twice at once is one registration. */
  readonly #running = new Map<string, Promise<Outcome>>();

  constructor(parts: RegistrationSite, counts: RegistrationCounts) {
    this.#parts = parts;
    this.#counts = counts;
  }

  show(visit: RegistrationVisit): SiteAnswer {
    return (
      this.#closed(visit) ??
      this.#newForm(visit, { typed: typedIn(new URLSearchParams({ invite: visit.asked.invite ?? '' })) })
    );
  }

  /** A form with a guard of its own, for a browser that gets a secret if it has none. */
  #newForm(visit: RegistrationVisit, page: Pick<FormPage, 'typed' | 'stale'>, status = 200): SiteAnswer {
    const { mode, contact, baseUrl } = this.#parts;
    const known = browserSecret(visit.request.headers, COOKIE, baseUrl);
    const { secret, cookie } = known === undefined ? newBrowserSecret(COOKIE, baseUrl) : { secret: known };
    const guard = formSeed(secret);
    const headers = cookie === undefined ? {} : { 'set-cookie': cookie };
    return { ...registrationForm(visit, { mode, contact, guard, faults: [], ...page }), status, headers };
  }

  #closed(visit: RegistrationVisit): SiteAnswer | undefined {
    const { mode, contact } = this.#parts;
    return mode === 'closed' ? closedPage(visit, contact) : undefined;
  }

  async take(visit: RegistrationVisit): Promise<SiteAnswer> {
    const { mode, contact, baseUrl } = this.#parts;
    const { request, words, form } = visit;
    const closed = this.#closed(visit);
    if (closed) return closed;
    const typed = typedIn(form);
    const secret = browserSecret(request.headers, COOKIE, baseUrl);
    const seed = secret && seedOf(form, secret);
    // The cookie was replaced, or ended with the browser: the form is shown again with a guard that fits.
    if (!secret || !seed) return this.#newForm(visit, { typed, stale: true }, 403);
    const outcome = await this.#outcomeOf(request, wantedBy(typed), secret, seed);
    if ('waitMs' in outcome) return busyPage(visit, outcome.waitMs, 'registrations');
    if ('faults' in outcome) {
      const faults = formFaults(words, outcome.faults, contact);
      const guard = { seed, token: form.get('token')! };
      const page = registrationForm(visit, { mode, contact, guard, typed, faults });
      return { ...page, faults: outcome.faults };
    }
    return this.#key(visit, outcome.registered);
  }

  /** The page of a key, for as long as the same form may still ask for it. */
  #key(visit: RegistrationVisit, registered: Registered): SiteAnswer {
    const { clock, directory, baseUrl } = this.#parts;
    const { key, row } = registered;
    const now = clock.now();
    if (isInactive(row, now) || !isShownAgain(row, now)) return gonePage(visit);
    const mode = directory.find(key, now)?.key.mode ?? row.mode;
    return keyPage(visit, registered, mode, baseUrl);
  }

  async #outcomeOf(
    request: FastifyRequest,
    wanted: Registration,
    secret: string,
    seed: string,
  ): Promise<Outcome> {
    const faults = registrationFaults(wanted, this.#parts.mode);
    if (Object.keys(faults).length > 0) return { faults };
    const keys = keysOf(secret, seed, wanted);
    let work = this.#running.get(keys.test);
    if (!work) {
      work = this.#register(request, wanted, keys).finally(() => this.#running.delete(keys.test));
      this.#running.set(keys.test, work);
    }
    return work;
  }

  async #register({ id, ip }: FastifyRequest, wanted: Registration, keys: KeyByMode): Promise<Outcome> {
    const { database, contact } = this.#parts;
    const before = await findRegistered(database, keys);
    if (before) return { registered: before };
    const waitMs = this.#counts.waitMs(ip);
    if (waitMs > 0) return { waitMs };
    const act = { actor: 'anonymous', request_id: id };
    try {
      const register = () => registerMerchant(this.#parts, wanted, act, keys);
      return { registered: await this.#counts.counted(ip, register) };
    } catch (error) {
      const faults = lookedUpFaults(error, contact);
      if (faults) return { faults };
      throw error;
    }
  }
}

const COOKIE = 'counterfoil_registration';
const statement = (seed: string) => `registration form ${seed}`;

/** The hidden fields of a new form: a seed, and the token that proves that the seed is ours and was given to this browser. */
function formSeed(secret: string): { seed: string; token: string } {
  const seed = newRandom();
  return { seed, token: tokenOf(secret, statement(seed)) };
}

/** The seed of a form that is ours and this browser's; nothing for any other. */
function seedOf(sent: URLSearchParams, secret: string): string | undefined {
  const seed = sent.get('seed');
  return isRandom(seed) && holdsToken(sent, secret, statement(seed)) ? seed : undefined;
}

/**
 * The keys that a form comes to. The same form from the same browser comes to the same key each time it is sent, so that neither a
 * second click nor a reload makes a second merchant; a form that says anything else comes to another. They are made of two times
 * 256 bits, one in the page and one in the cookie: neither alone tells the key, and the store keeps nothing of either.
 */
function keysOf(secret: string, seed: string, wanted: Registration): KeyByMode {
  const { business_name, email, website, invite } = wanted;
  const said = sha256Hex(JSON.stringify([business_name, email, website, invite]));
  const bits = Buffer.concat([Buffer.from(secret, 'base64url'), Buffer.from(seed, 'base64url')]);
  const keyOf = (prefix: string) => derivedSecret(prefix, bits, `counterfoil registration ${said}`);
  return { live: keyOf(KEY_PREFIX.live), test: keyOf(KEY_PREFIX.test) };
}

export interface RegistrationSettings extends RegistrationSite, FailureLog {
  timeZone: string;
  limits: RegistrationLimits;
}

/** Registers the routes of registration on `app` under its prefix, which is `/register` below the path of the base URL. */
export async function registration(app: FastifyInstance, settings: RegistrationSettings): Promise<void> {
  const { clock, limits, baseUrl, timeZone } = settings;
  const counts = new RegistrationCounts(limits, clock);
  const forms = new RegistrationForms(settings, counts);
  // Programs send JSON to the same address.
  const beside: SiteRoute['beside'] = (scope, takeForm) => {
    const takeJson = takePrograms(scope, settings, counts);
    return (request, reply) => (isForm(request.headers) ? takeForm : takeJson)(request, reply);
  };
  serveSite(app, {
    ...settings,
    site: registrationSite(`${baseUrl}/register`, timeZone),
    routes: [
      pageAt('/', 'anyone', (visit: RegistrationVisit) => forms.show(visit)),
      { ...formAt('/', 'anyone', (visit: RegistrationVisit) => forms.take(visit)), beside },
    ],
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
