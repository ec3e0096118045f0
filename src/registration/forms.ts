// The pages of registration as they are asked for and their form as it is sent: which page each comes to.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isBrowser, isForm, isSameOrigin } from '../http/form.ts';
import { note, noteFields } from '../http/request-log.ts';
import type { OperationalError } from '../lib/errors.ts';
import { type Clock, SECOND_MS } from '../lib/time.ts';
import {
  findRegistered,
  type KeyByMode,
  type Registered,
  type RegistrationParts,
  registerMerchant,
} from '../merchants/register.ts';
import {
  lookedUpFaults,
  type Registration,
  type RegistrationFaults,
  registrationFaults,
} from '../merchants/registration.ts';
import { isOver, isShownAgain } from '../merchants/stored-key.ts';
import { Languages } from '../ui/languages.ts';
import { pageHeaders } from '../ui/page.ts';
import { themeCookie } from '../ui/theme.ts';
import { formFaults, type Typed, typedIn, wantedBy } from './form.ts';
import { browserSecret, formSeed, keysOf, newBrowserSecret, seedOf } from './form-guard.ts';
import { closedPage, formPage } from './form-page.ts';
import { keyPage } from './key-page.ts';
import { busyPage, failurePage, gonePage, refusedPage } from './problem-page.ts';
import type { RegistrationCounts } from './throttle.ts';
import { type Place, type Visit, visitOf } from './visit.ts';

const NOTHING_TYPED: Typed = { business_name: '', email: '', website: '', invite: '' };

export interface FormSettings extends RegistrationParts {
  clock: Clock;
  counts: RegistrationCounts;
  /** Where the API is reached, and registration; without slashes at their ends. */
  baseUrl: string;
  pageUrl: string;
  timeZone: string;
  /** A failure as the contract knows it; nothing where it is a defect. */
  asOperationalError(error: unknown): OperationalError | undefined;
  /** Logs a failure whose page only shows the request's id. */
  report(error: unknown, requestId: string): void;
  /** Logs that a page could not be shown for now. */
  warn(message: string, requestId: string): void;
}

/** What a form comes to. */
type Outcome = { registered: Registered } | { faults: RegistrationFaults } | { waitMs: number };

/** The pages as they are asked for and the form as it is sent. `show`, `take` and `fail` are handlers of the framework. */
export class RegistrationForms {
  readonly #settings: FormSettings;
  readonly #place: Place;
  readonly #headers: Record<string, string>;
  /** Forms that are being worked on, by one of their keys: the same form sent twice at once is one registration. */
  readonly #running = new Map<string, Promise<Outcome>>();

  constructor(settings: FormSettings) {
    const { timeZone, pageUrl } = settings;
    this.#settings = settings;
    this.#place = { languages: Languages.in(timeZone), pageUrl };
    this.#headers = pageHeaders(pageUrl);
  }

  #send(reply: FastifyReply, status: number, text: string): FastifyReply {
    return reply.code(status).headers(this.#headers).send(text);
  }

  /** Shows the form, or that nobody may register. */
  async show(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { mode, contact, baseUrl } = this.#settings;
    const visit = visitOf(request, this.#place);
    const { theme, invite } = visit.asked;
    if (theme !== undefined) {
      const cookie = themeCookie(theme, baseUrl);
      return reply
        .code(303)
        .headers({ ...this.#headers, 'set-cookie': cookie, location: visit.address() })
        .send();
    }
    if (mode === 'closed') return this.#send(reply, 403, closedPage(visit, contact));
    const typed = { ...NOTHING_TYPED, invite: invite ?? '' };
    const guard = formSeed(this.#secretOf(request, reply));
    return this.#send(reply, 200, formPage(visit, { mode, contact, guard, typed, faults: [] }));
  }

  /** The secret of the browser that asks, which is given one where it has none. */
  #secretOf(request: FastifyRequest, reply: FastifyReply): string {
    const { baseUrl } = this.#settings;
    const known = browserSecret(request.headers.cookie, baseUrl);
    if (known !== undefined) return known;
    const { secret, cookie } = newBrowserSecret(baseUrl);
    reply.header('set-cookie', cookie);
    return secret;
  }

  /** Takes a form, and shows the key or why there is none. */
  async take(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { mode, contact, baseUrl } = this.#settings;
    const visit = visitOf(request, this.#place);
    if (mode === 'closed') return this.#send(reply, 403, closedPage(visit, contact));
    const sent = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const secret = browserSecret(request.headers.cookie, baseUrl);
    const isOurs = isSameOrigin(request.headers, new URL(baseUrl).origin);
    const seed = isOurs && secret !== undefined ? seedOf(sent, secret) : undefined;
    if (!isOurs) return this.#send(reply, 403, refusedPage(visit));
    const typed = typedIn(sent);
    if (secret === undefined || seed === undefined) return this.#showAgain(request, reply, visit, typed);
    const outcome = await this.#outcomeOf(request, wantedBy(typed), secret, seed);
    if ('waitMs' in outcome) {
      reply.header('retry-after', String(Math.ceil(outcome.waitMs / SECOND_MS)));
      note(request, { code: 'rate_limited', limit: 'registrations' });
      return this.#send(reply, 429, busyPage(visit, outcome.waitMs));
    }
    if ('faults' in outcome) {
      noteFields(request, outcome.faults);
      const faults = formFaults(visit.words, outcome.faults, contact);
      const guard = { seed, token: sent.get('token')! };
      return this.#send(reply, 422, formPage(visit, { mode, contact, guard, typed, faults }));
    }
    return this.#showKey(reply, visit, outcome.registered);
  }

  /** Shows a form once more, with a guard that fits and what was typed: its cookie was replaced, or ended with the browser. */
  #showAgain(request: FastifyRequest, reply: FastifyReply, visit: Visit, typed: Typed): FastifyReply {
    const { mode, contact } = this.#settings;
    const guard = formSeed(this.#secretOf(request, reply));
    return this.#send(reply, 403, formPage(visit, { mode, contact, guard, typed, faults: [], stale: true }));
  }

  /** Shows the key of who has registered, for as long as the same form may still ask for it. */
  #showKey(reply: FastifyReply, visit: Visit, registered: Registered): FastifyReply {
    const { clock, directory, baseUrl } = this.#settings;
    const { key, row } = registered;
    const now = clock.now();
    if (isOver(row, now) || !isShownAgain(row, now)) return this.#send(reply, 410, gonePage(visit));
    const mode = directory.find(key, now)?.key.mode ?? row.mode;
    return this.#send(reply, 201, keyPage(visit, registered, mode, baseUrl));
  }

  async #outcomeOf(
    request: FastifyRequest,
    wanted: Registration,
    secret: string,
    seed: string,
  ): Promise<Outcome> {
    const faults = registrationFaults(wanted, this.#settings.mode);
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
    const { database, counts, contact } = this.#settings;
    const before = await findRegistered(database, keys);
    if (before) return { registered: before };
    const waitMs = counts.waitMs(ip);
    if (waitMs > 0) return { waitMs };
    const uncount = counts.count(ip);
    try {
      const act = { actor: 'anonymous', request_id: id };
      return { registered: await registerMerchant(this.#settings, wanted, act, keys) };
    } catch (error) {
      const faults = lookedUpFaults(error, contact);
      uncount({ lookedUp: faults !== undefined });
      if (faults) return { faults };
      throw error;
    }
  }

  /** Tells of a failure as a page where a page was asked for; else throws it for others to tell. */
  fail(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { asOperationalError, report, warn } = this.#settings;
    const known = asOperationalError(error);
    const isRefusal = known !== undefined && known.status < 500;
    const isFormSent = request.method === 'POST' && isForm(request.headers) && isBrowser(request.headers);
    if (isRefusal ? !isFormSent : request.method === 'POST' && !isFormSent) throw error;
    note(request, { code: known?.code ?? 'internal_error' });
    const visit = visitOf(request, this.#place);
    if (isRefusal) return this.#send(reply, known.status, refusedPage(visit));
    if (known) warn(known.message, request.id);
    else report(error, request.id);
    if (known?.retryAfterS !== undefined) reply.header('retry-after', String(known.retryAfterS));
    return this.#send(reply, known?.status ?? 500, failurePage(visit, request.id));
  }
}
