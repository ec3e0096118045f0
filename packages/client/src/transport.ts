// Requests that may fail on the way: sent again with the same Idempotency-Key, within a deadline, where that can do nothing twice.

import { ApiError, ConnectionError, CounterfoilError } from './errors.ts';
import { type Routes, UNKEYED } from './routes.ts';

/** How long one attempt waits for its answer; with `Prefer: wait`, so much longer. */
const ATTEMPT_MS = 15_000;
const TIMEOUT_MS = 60_000;
/** The first pause is half of this at least; each further one is about twice as long, up to the maximum. */
const PAUSE_MS = 100;
const PAUSE_MAXIMUM_MS = 5000;
/** Statuses after which the same request may succeed. After 429 it was surely not done; after the others it may have been. */
const PASSING = [408, 429, 502, 503, 504];

/** Of every call. */
export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The deadline of the call with all its retries, in milliseconds. Default: that of the client. */
  timeoutMs?: number | undefined;
}

/** Of calls that change something. */
export interface WriteOptions extends CallOptions {
  /**
   * Names what is to be done once, such as `order-1042-1`. For 7 days the same call with the same key gets the first answer again. Default:
   * a new key for each call, which its retries keep. Give one where your program may fail between the call and the storing of its answer.
   */
  idempotencyKey?: string | undefined;
}

export interface ClientOptions {
  /** The API key: `cfk_live_…` or `cfk_test_…`. It belongs on servers alone: in a browser a live key throws. */
  key: string;
  /** The service's address, without `/v1`: `https://pay.example`. */
  baseUrl: string;
  /** The deadline of a call with all its retries, in milliseconds. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** Sends the requests. Default: the platform's `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

type Route = keyof Routes;
type Request = [url: string, init: RequestInit];

/** What a request has beside its route. `body` is JSON as text. */
interface Asked extends WriteOptions {
  /** Takes the place of `{…}` in the path. */
  id?: string | undefined;
  query?: object | undefined;
  body?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** For how much longer than others an answer may take, in milliseconds. */
  waitMs?: number | undefined;
}

/** An answer of the API; `json` is undefined for 304. */
interface Answer {
  headers: Headers;
  json: { data: unknown } | undefined;
}

/** Sends the requests of one client. */
export class Transport {
  readonly #key: string;
  readonly #origin: string;
  readonly #timeoutMs: number;
  readonly #fetch: NonNullable<ClientOptions['fetch']>;

  constructor({ key, baseUrl, timeoutMs = TIMEOUT_MS, fetch: send }: ClientOptions) {
    if (!/^cfk_(live|test)_\w+$/.test(key))
      throw new TypeError('key is no API key: cfk_live_… or cfk_test_…');
    const isLive = key.startsWith('cfk_live_');
    if (isLive && isBrowser())
      throw new TypeError(
        'A live key is for servers alone: everyone who opens this page can read it. Revoke it.',
      );
    this.#origin = originOf(baseUrl, isLive);
    this.#key = key;
    this.#timeoutMs = timeoutMs;
    this.#fetch = send ?? ((url, init) => fetch(url, init));
  }

  /** Calls an endpoint. Returns what it answers. Throws `ApiError`, `ConnectionError`, and the reason of the signal. */
  async call<R extends Route>(route: R, asked: Asked = {}): Promise<Routes[R]['answer']> {
    return (await this.send(route, asked)).json as Routes[R]['answer'];
  }

  /** The same with the answer's headers. */
  async send(route: Route, asked: Asked): Promise<Answer> {
    const { signal, timeoutMs = this.#timeoutMs, waitMs = 0 } = asked;
    const idempotencyKey = route.startsWith('POST')
      ? (asked.idempotencyKey ?? crypto.randomUUID())
      : undefined;
    if (idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey))
      throw new TypeError('idempotencyKey is 1 to 255 printable characters of ASCII');
    const request = this.#requestOf(route, asked, idempotencyKey);
    const end = performance.now() + timeoutMs + waitMs;
    for (let attempt = 0; ; attempt++) {
      try {
        const ms = Math.max(1, Math.min(ATTEMPT_MS + waitMs, end - performance.now()));
        return await this.#attempt(route, request, ms, signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof CounterfoilError)) throw error;
        if (attempt > 0 && isGone(error, route)) return { headers: new Headers(), json: undefined };
        error.idempotencyKey = idempotencyKey;
        const ms = pauseMs(error, attempt);
        if (!isPassing(error, route) || performance.now() + ms >= end) throw error;
        await pause(ms, signal);
      }
    }
  }

  /** Opens an answer that is read as it comes. `open.abort()` ends it. Throws as `call` does, at the first failure. */
  async open(route: Route, asked: Asked, open: AbortController): Promise<Response> {
    const [url, init] = this.#requestOf(route, asked);
    const late = setTimeout(() => open.abort(), ATTEMPT_MS);
    try {
      const response = await this.#fetch(url, { ...init, signal: open.signal });
      if (!response.ok) throw refusal(response, await response.text());
      return response;
    } finally {
      clearTimeout(late);
    }
  }

  async #attempt(route: Route, [url, init]: Request, ms: number, signal?: AbortSignal): Promise<Answer> {
    signal?.throwIfAborted();
    const over = new AbortController();
    const stop = () => over.abort();
    const late = setTimeout(stop, ms);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const response = await this.#fetch(url, { ...init, signal: over.signal });
      const text = await response.text();
      if (response.status === 304) return { headers: response.headers, json: undefined };
      if (!response.ok) throw refusal(response, text);
      return { headers: response.headers, json: answered(response, text) };
    } catch (error) {
      if (error instanceof CounterfoilError) throw error;
      const why = over.signal.aborted ? `no answer within ${Math.round(ms)} ms` : reasonOf(error);
      throw new ConnectionError(`${route} at ${this.#origin}: ${why}`, { cause: error });
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', stop);
    }
  }

  #requestOf(route: Route, { id, query = {}, body, headers }: Asked, idempotencyKey?: string): Request {
    const [method, path] = route.split(' ') as [string, string];
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const parameters = String(new URLSearchParams(given.map(([name, value]) => [name, String(value)])));
    const url =
      this.#origin + path.replace(/\{\w+\}/, () => checkedId(id)) + (parameters && `?${parameters}`);
    return [
      url,
      {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${this.#key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...headers,
        },
        ...(body !== undefined && { body }),
        redirect: 'manual', // the key goes nowhere else
      },
    ];
  }
}

/** Whether an error may pass, and the same request can be sent again without doing anything twice. */
export function isPassing(error: unknown, route: Route): boolean {
  const canRepeat = !UNKEYED.has(route);
  if (!(error instanceof ApiError)) return error instanceof ConnectionError && canRepeat;
  if (error.status === 429 || error.code === 'idempotency_in_progress') return true;
  return PASSING.includes(error.status) && canRepeat;
}

/** Whether an earlier attempt, whose answer was lost, has deleted it. */
function isGone(error: CounterfoilError, route: Route): boolean {
  return route.startsWith('DELETE') && error instanceof ApiError && error.code === 'not_found';
}

/** How long to wait after an error: longer each time, by chance, and as long as the service asks for. */
export function pauseMs(error: unknown, attempt: number): number {
  const longest = Math.min(PAUSE_MS * 2 ** attempt, PAUSE_MAXIMUM_MS);
  const asked = error instanceof ApiError ? (error.retryAfterS ?? 0) * 1000 : 0;
  return asked + longest * (0.5 + Math.random() / 2);
}

/** Waits. Throws the reason of the signal when that is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** The JSON of an answer that says yes. Throws the error of `unread` where it is none of the API. */
function answered(response: Response, text: string): { data: unknown } {
  const json = parsed(text);
  if (typeof json === 'object' && json !== null && 'data' in json) return json as { data: unknown };
  throw unread(response);
}

/** The error of an answer that says no. */
function refusal(response: Response, text: string): CounterfoilError {
  const { status, headers } = response;
  const { error } = (parsed(text) ?? {}) as { error?: { code: string; message: string; details?: object } };
  if (typeof error?.code !== 'string')
    return PASSING.includes(status)
      ? new ConnectionError(`a server on the way answered ${status}`)
      : unread(response);
  return new ApiError(error.message, {
    status,
    code: error.code,
    details: { ...error.details },
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterS: Number(headers.get('retry-after') ?? undefined) || undefined,
  });
}

/** The error of an answer that is none of the API: what calls itself JSON was cut on the way. */
function unread({ url, status, headers }: Response): CounterfoilError {
  return /json/.test(headers.get('content-type') ?? '')
    ? new ConnectionError(`the answer to ${url} was cut`)
    : new CounterfoilError(`${url} answered ${status} without the API's JSON: check baseUrl`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

/** The id as it stands in a path. Throws `TypeError` for what would lead to another path. */
function checkedId(id: unknown): string {
  if (typeof id === 'string' && /^\w+$/.test(id)) return id;
  throw new TypeError(`not an id of the API: ${id === '' ? "''" : id}`);
}

/** The address that paths follow. Throws `TypeError` for one over which a live key would be sent in the clear. */
function originOf(baseUrl: string, isLive: boolean): string {
  if (!URL.canParse(baseUrl) || /\/v1\/*$/.test(baseUrl) || /[?#]/.test(baseUrl))
    throw new TypeError(
      `baseUrl is the service's address without /v1, such as https://pay.example: ${baseUrl}`,
    );
  const { protocol, hostname } = new URL(baseUrl);
  const isNear =
    /^([^.]+|.+\.(internal|local|localhost|svc)|\[.*\]|(10|127|192\.168|172\.(1[6-9]|2\d|3[01]))\..+)$/;
  if (protocol !== 'https:' && !(protocol === 'http:' && (!isLive || isNear.test(hostname))))
    throw new TypeError(`baseUrl must begin with https: a live key is not sent in the clear to ${hostname}`);
  return baseUrl.replace(/\/+$/, '');
}

/** Whether this is a page or a worker of one. Node, Deno, Bun and Workers name themselves. */
function isBrowser(): boolean {
  const { document, navigator } = globalThis as { document?: unknown; navigator?: { userAgent?: string } };
  return document !== undefined || /^Mozilla\//.test(navigator?.userAgent ?? '');
}
