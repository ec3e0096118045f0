// counterfoil listen and trigger: forwards test events to a server on this machine, and makes them, by the API of a running service.
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { momentsIn } from '../../lib/moments.ts';
import { harmlessText, jsonOr } from '../../lib/text.ts';
import { formatTimestamp, monotonicMs, SECOND_MS, systemClock } from '../../lib/time.ts';
import { webAddressFault } from '../../lib/web-address.ts';
import { DEVELOPMENT_KEY, KEY_PREFIX } from '../../merchants/merchant.ts';
import { isWebhookSecret, webhookHeaders } from '../../webhooks/signing.ts';
import { configurationFile, readConfiguration } from '../config.ts';
import { placesOf } from '../settings/places.ts';
import { Failure, styled } from './terminal.ts';
import { CONFIG_OPTION, newCommand, UsageError } from './usage.ts';

/** The service sends something every 15 seconds. */
const SILENT_MS = 35 * SECOND_MS;
const RETRY_MS = SECOND_MS;
/** As long as a webhook waits for its answer. */
const FORWARD_MS = 15 * SECOND_MS;

interface Options extends TestApiOptions {
  forwardTo: string;
  secret?: string;
  json?: boolean;
}

interface StreamedEvent {
  id: string;
  /** JSON, as it is signed and sent. */
  body: string;
}

/** A block of the stream. The first one says by its id alone where the stream begins. */
type Block = StreamedEvent | { id: string; body?: undefined };

export const command = (name: string): Command => (name === 'listen' ? listenCommand() : triggerCommand());

function listenCommand(): Command {
  return newCommand(
    'listen',
    'forward test events, signed as webhooks are, to a server on this machine',
    [
      'listen --forward-to http://127.0.0.1:3000/hook',
      'listen --forward-to http://127.0.0.1:3000/hook --url https://pay.example --key cfk_test_…',
    ],
    `It prints the secret that your server verifies signatures with, then a line for each event. With the same key the secret is the
same at each start. It begins with what happens now, goes on where it was when the connection breaks, and ends with
Ctrl-C. An event is posted once, whatever your server answers. Make events with counterfoil trigger.`,
  )
    .requiredOption('--forward-to <url>', 'where each event is posted', parseAddress)
    .option(
      '--secret <secret>',
      'sign with this secret, such as that of an endpoint (default: one that belongs to the key)',
      parseSecret,
    )
    .option(...KEY_OPTION)
    .option(...URL_OPTION)
    .option(...CONFIG_OPTION)
    .option('--json', 'print a line of JSON for each event')
    .action(listen);
}

function parseAddress(text: string): string {
  const fault = webAddressFault(text, { httpsOnly: false });
  if (fault) throw new InvalidArgumentError(fault.replace(/^Must/, 'It must'));
  return text;
}

function parseSecret(text: string): string {
  if (!isWebhookSecret(text))
    throw new InvalidArgumentError('It must be whsec_ and 24 to 64 bytes in base64.');
  return text;
}

/** A secret that belongs to a key and does not tell it: the same at each start, so that the developer's server keeps it. */
const secretOfKey = (key: string): string =>
  `whsec_${createHmac('sha256', key).update('counterfoil listen').digest('base64')}`;

async function listen({ forwardTo, json, secret: given, ...options }: Options): Promise<void> {
  const api = testApi(options);
  const secret = given ?? secretOfKey(options.key ?? DEVELOPMENT_KEY);
  let lastId: string | undefined;
  for (let hasBegun = false; ; await sleep(RETRY_MS)) {
    try {
      const events = await openEvents(api, lastId);
      if (hasBegun) say('connected again');
      else if (json) console.log(JSON.stringify({ listening: api.baseUrl, forward_to: forwardTo, secret }));
      else console.log(`Test events of ${api.baseUrl} go to ${forwardTo}\nSigning secret: ${secret}\n`);
      hasBegun = true;
      for await (const event of events) {
        lastId = event.id;
        if (event.body !== undefined) await forward(event, { forwardTo, secret, json });
      }
      say('the service ended the stream; connecting again');
    } catch (error) {
      if (!hasBegun || !(error instanceof Unreachable)) throw error;
      say(error.message);
    }
  }
}

/** The developer's service may be elsewhere: its time zone is not known. */
const secondOf = (ms: number) => momentsIn('UTC').second(ms);

/** Tells the developer what is no event: apart from the lines of events, which a program may read. */
const say = (text: string) => console.error(`${secondOf(systemClock.now())}  ${text}`);

/** Opens the stream behind an event, or now. Throws as `TestApi.request` does; so does what it returns when the connection breaks. */
async function openEvents(api: TestApi, lastId: string | undefined): Promise<AsyncGenerator<Block>> {
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), SILENT_MS);
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), SILENT_MS);
  };
  const headers: Record<string, string> = lastId === undefined ? {} : { 'last-event-id': lastId };
  try {
    const response = await api.request('/v1/events/stream', { headers, signal: silent.signal });
    return eventsIn(response, heard, () => clearTimeout(timer));
  } catch (error) {
    clearTimeout(timer);
    throw error;
  }
}

async function* eventsIn(response: Response, heard: () => void, end: () => void): AsyncGenerator<Block> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body!) {
      heard();
      const blocks = (text + decoder.decode(bytes, { stream: true })).split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const [, id, body] = /^(?:retry: \d+\n)?id: ([\w-]{1,100})(?:\ndata: (.*))?$/.exec(block) ?? [];
        if (id !== undefined) yield { id, body };
        else if (/^(id|data):/m.test(block)) say('what came is no event, and is passed over');
      }
    }
  } catch (error) {
    throw new Unreachable(`the connection was lost (${reasonOf(error)}); connecting again`);
  } finally {
    end();
  }
}

/** What is printed of an event: words that no terminal takes for a command. */
const word = z.string().regex(/^[\w.-]{1,100}$/);
const eventSchema = z.object({ type: word, data: z.object({ payment_id: word }) });

async function forward(
  { id, body }: StreamedEvent,
  { forwardTo, secret, json }: { forwardTo: string; secret: string; json: boolean | undefined },
): Promise<void> {
  const event = eventSchema.safeParse(jsonOr(body));
  if (!event.success) return say(`${id} is no event of a payment, and is passed over`);
  const { type, data } = event.data;
  const at = systemClock.now();
  const begun = monotonicMs();
  const headers = webhookHeaders({ id, body, secrets: [secret], at });
  let status: number | null = null;
  let failure: string | undefined;
  try {
    const signal = AbortSignal.timeout(FORWARD_MS);
    const response = await fetch(forwardTo, { method: 'POST', headers, body, redirect: 'manual', signal });
    status = response.status;
    await response.body?.cancel();
  } catch (error) {
    failure = harmlessText(reasonOf(error));
  }
  const ms = Math.round(monotonicMs() - begun);
  const { payment_id } = data;
  if (json) {
    const time = formatTimestamp(at);
    console.log(JSON.stringify({ time, id, type, payment_id, status, ms, ...(failure && { failure }) }));
    return;
  }
  const isTaken = status !== null && status >= 200 && status < 300;
  const answer = styled(
    process.stdout,
    isTaken ? 'green' : 'red',
    status === null ? 'no answer' : String(status),
  );
  const detail = failure === undefined ? `in ${ms} ms` : `(${failure})`;
  console.log(`${secondOf(at)}  ${type.padEnd(22)}  ${payment_id}  ${answer} ${detail}`);
}

const ANSWER_MS = 15 * SECOND_MS;

const KEY_OPTION = ['--key <key>', 'a test key (default: the development key)'] as const;
const URL_OPTION = [
  '--url <url>',
  'base URL of the service (default: that of the configuration file)',
] as const;

interface TestApiOptions {
  key?: string;
  url?: string;
  config?: string;
}

/** The service did not answer: it may do so later. */
class Unreachable extends Failure {
  override readonly name = 'Unreachable';
}

interface TestApi {
  baseUrl: string;
  /** Sends `init` to a path below the base URL. Throws `Unreachable`, and `Failure` for an answer that says no. */
  request(path: string, init?: RequestInit): Promise<Response>;
}

/** Returns the API that options name. Throws `ConfigurationError`, and `UsageError` for a live key and an address without https. */
function testApi({ key: given, url, config }: TestApiOptions): TestApi {
  const key = given ?? DEVELOPMENT_KEY;
  if (!key.startsWith(KEY_PREFIX.test))
    throw new UsageError(
      '--key takes test keys alone: they begin with cfk_test_, and no live payment can be touched',
    );
  const baseUrl = (url ?? configuredUrl(config)).replace(/\/+$/, '');
  const fault = webAddressFault(baseUrl, { httpsOnly: true });
  if (fault) throw new UsageError(`--url ${fault.replace(/^M/, 'm')}`); // the key is never sent in the clear
  return {
    baseUrl,
    async request(path, init = {}) {
      const response = await fetched(`${baseUrl}${path}`, {
        signal: AbortSignal.timeout(ANSWER_MS),
        ...init,
        redirect: 'error',
        headers: { ...init.headers, authorization: `Bearer ${key}` },
      });
      if (response.ok) return response;
      const advice =
        response.status === 401 && given === undefined
          ? ' It does not know the development key: give a test key of it with --key.'
          : '';
      const said = `${baseUrl}${path} answered ${response.status}: ${await messageOf(response)}${advice}`;
      throw response.status === 429 || response.status >= 500 ? new Unreachable(said) : new Failure(said);
    },
  };
}

function configuredUrl(file: string | undefined): string {
  return placesOf(readConfiguration(configurationFile(file))).baseUrls.public;
}

async function fetched(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (error) {
    throw new Unreachable(
      `${address} cannot be reached (${reasonOf(error)}): see whether the service runs there, or name the address that it printed at its start with --url`,
    );
  }
}

/** Why a request has no answer, in a word or two. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  return name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? cause?.message ?? message);
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error: { message: string; details?: object } };
    return error.details ? `${error.message} ${JSON.stringify(error.details)}` : error.message;
  } catch {
    return 'it is not Counterfoil that answers there';
  }
}

/** Below `/v1`, for each type: what is called one after the other, `ID` being the payment. */
const CALLS = {
  'payment.created': [],
  'payment.submitted': ['test/payments/ID/submit'],
  'payment.approved': ['test/payments/ID/submit', 'test/payments/ID/approve'],
  'payment.rejected': ['test/payments/ID/submit', 'test/payments/ID/reject'],
  'payment.cancelled': ['payments/ID/cancel'],
  'payment.expired': ['test/payments/ID/expire'],
  'payment.reopened': ['payments/ID/cancel', 'test/payments/ID/record'],
  'payment.link_requested': ['test/payments/ID/expire', 'test/payments/ID/request_link'],
  'payment.money_received': ['test/payments/ID/record'],
} as const;
type Triggered = keyof typeof CALLS;

const PAYMENT = {
  amount: 49.9,
  currency: 'EUR',
  merchant_reference: 'trigger',
  description: 'A test payment',
};

function triggerCommand(): Command {
  return newCommand(
    'trigger',
    'make a test payment with an event of a type, for the webhooks and streams of a developer',
    [
      'trigger payment.approved',
      'trigger payment.approved --payment pay_01m8…',
      'trigger payment.expired --url https://pay.example --key cfk_test_…',
    ],
    `The service must be running. The events before come too: a payment that is approved was created and submitted.`,
  )
    .addArgument(new Argument('<type>', 'type of the event').choices(Object.keys(CALLS)))
    .option(
      '--payment <id>',
      'a payment of the key instead of a new one; only the steps that it has not taken',
    )
    .option(...KEY_OPTION)
    .option(...URL_OPTION)
    .action(trigger);
}

async function trigger(
  type: Triggered,
  { json, payment: given, ...options }: TestApiOptions & { json?: boolean; payment?: string },
): Promise<void> {
  const api = testApi(options);
  const read = async (path: string, init: RequestInit = {}) => {
    const response = await api.request(`/v1/${path}`, init);
    return ((await response.json()) as { data: { id: string; status: string } }).data;
  };
  const post = (path: string, init: RequestInit = {}) => read(path, { method: 'POST', ...init });
  const headers = { 'content-type': 'application/json' };
  let payment = given
    ? await read(`payments/${encodeURIComponent(given)}`)
    : await post('payments', { headers, body: JSON.stringify(PAYMENT) });
  const calls: readonly string[] = CALLS[type];
  const isSubmitted = payment.status === 'requires_review';
  for (const call of calls.filter((one) => !(isSubmitted && one.endsWith('/submit'))))
    payment = await post(call.replace('ID', payment.id));
  const { id, status } = payment;
  console.log(json ? JSON.stringify({ type, payment_id: id, status }) : `${type}  ${id} is ${status}`);
}
