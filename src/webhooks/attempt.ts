// One attempt to deliver a webhook: one signed POST, its answer judged, at most 15 seconds and 4 KiB of the reply.
import { type ClientRequest, type IncomingMessage, request as startRequest } from 'node:http';
import type { Socket } from 'node:net';
import { harmlessText } from '../lib/text.ts';
import { monotonicMs, SECOND_MS } from '../lib/time.ts';
import { type AddressRules, checkUrl } from './addresses.ts';
import { AttemptFailure, connectChecked, Deadline, type LookUp, lookUpAt } from './connection.ts';
import { type Signed, webhookHeaders } from './signing.ts';

const TOTAL_MS = 15_000;
const REPLY_BYTES = 4096;
const HEADER_BYTES = 16_384;
/** Answers 100 to 199 before the one that counts. Each of them begins Node's own limit on the bytes of a head anew. */
const INTERIM_ANSWERS = 8;
/** Bytes of an answer in all: interim answers, head, body, and what the body is wrapped in. More than one read of a socket gives. */
const ANSWER_BYTES = 262_144;
/** Bytes that are parsed at once. */
const PIECE_BYTES = 1024;

interface DeliveryAttempt extends Signed {
  url: string;
}

export interface AttemptOutcome {
  /** Whether the server took it: it answered with a status from 200 to 299. */
  ok: boolean;
  /** The status it answered; null where there was no answer. */
  status: number | null;
  /** From the beginning to the answer or the failure, in milliseconds. */
  ms: number;
  /** What came of it, in words and without a full stop: `Your server answered 500 in 212 ms`. */
  reason: string;
  /** The first 4 KiB of the reply as text; null without one, for an address that is not public, and for a compressed reply. */
  reply: string | null;
  /** How long a server that did not take it asks to wait, in milliseconds; null where it does not. */
  retryAfterMs: number | null;
}

/** An attempt that no server answered. */
export const UNANSWERED = { ok: false, status: null, reply: null, retryAfterMs: null } as const;

/** What failures of a connection mean, by Node's codes. */
const REASONS: Record<string, string> = {
  ECONNREFUSED: 'Your server refused the connection',
  ECONNRESET: 'Your server closed the connection without an answer',
  EPIPE: 'Your server closed the connection without an answer',
  ETIMEDOUT: 'Your server did not take the connection in time',
  EHOSTUNREACH: 'There is no way to the address of your server',
  ENETUNREACH: 'There is no way to the address of your server',
  EADDRNOTAVAIL: 'There is no way to the address of your server',
  HPE_HEADER_OVERFLOW: 'Your server sent more than 16 KiB of headers',
};

function reasonOf(error: unknown): string {
  if (error instanceof AttemptFailure) return error.message;
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const code = String((error as NodeJS.ErrnoException).code ?? '');
  if (Object.hasOwn(REASONS, code)) return REASONS[code]!;
  if (code.startsWith('HPE_')) return 'Your server answered with something that is not HTTP';
  if (/^(ERR_SSL|EPROTO|ERR_TLS)/.test(code)) return 'Your server does not speak TLS that can be agreed on';
  return `The attempt failed: ${code || (error as Error).name}`;
}

/** Ends a request as soon as the server sends more than an answer may have, whatever it is. Calls `fail` once at most. */
function limitAnswer(socket: Socket, request: ClientRequest, fail: (error: AttemptFailure) => void): void {
  let interim = 0;
  let bytes = 0;
  const end = (what: string) => {
    const error = new AttemptFailure(`Your server sent more than ${what}`);
    fail(error);
    socket.destroy(error);
  };
  request.on('information', () => {
    interim += 1;
    // One read may bring several interim answers. Only one of them makes an error.
    if (interim === INTERIM_ANSWERS + 1) end(`${INTERIM_ANSWERS} interim answers (status 100 to 199)`);
  });
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES && !socket.destroyed) end(`${ANSWER_BYTES / 1024} KiB`);
  });
}

/**
 * Hands what is read of a socket on in small pieces, none once it is destroyed. Because: the parser of HTTP reads a whole piece before
 * anything can end it, and one read of 64 KiB holds 2,600 interim answers, which take 26 ms.
 */
function readInPieces(socket: Socket): void {
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk === null) return push(chunk, encoding);
    let takesMore = true;
    for (let at = 0; at < chunk.length && !socket.destroyed; at += PIECE_BYTES)
      takesMore = push(chunk.subarray(at, at + PIECE_BYTES));
    return takesMore;
  };
}

/** Sends the request on a socket. Resolves when the headers of the answer are there. */
function post(socket: Socket, url: URL, attempt: DeliveryAttempt): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = startRequest({
      createConnection: () => socket,
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      maxHeaderSize: HEADER_BYTES,
      headers: {
        host: url.host,
        connection: 'close',
        'content-length': Buffer.byteLength(attempt.body),
        'accept-encoding': 'identity',
        ...webhookHeaders(attempt),
      },
    });
    readInPieces(socket);
    limitAnswer(socket, request, reject);
    request.once('response', resolve);
    request.once('upgrade', (_response, upgraded) => {
      upgraded.destroy();
      reject(new AttemptFailure('Your server switched protocols instead of answering'));
    });
    request.on('error', reject);
    request.end(attempt.body);
  });
}

/** The first 4 KiB of an answer's body. What breaks off or comes too late ends it: the status has decided already. */
async function firstOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= REPLY_BYTES) break;
    }
  } catch {
    // as above
  }
  return Buffer.concat(chunks).subarray(0, REPLY_BYTES);
}

/** How long `Retry-After` (RFC 9110) asks to wait from `now`, in milliseconds; null where it says nothing that is understood. */
function retryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const isDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header);
  const ms = /^\d{1,10}$/.test(header)
    ? Number(header) * SECOND_MS
    : isDate
      ? Date.parse(header) - now
      : Number.NaN;
  return Number.isNaN(ms) ? null : Math.max(ms, 0);
}

function answered(status: number, ms: number): string {
  const redirect = status >= 300 && status <= 399 ? ', a redirect, which is not followed,' : '';
  return `Your server answered ${status}${redirect} in ${ms} ms`;
}

/**
 * Makes one attempt. Never throws for what the server or the network does: that is the outcome. Rejects with the reason of `signal` where
 * the caller ends it; then it is not known whether the server took it. `lookUp` resolves the host name.
 */
export async function attemptDelivery(
  attempt: DeliveryAttempt,
  rules: AddressRules,
  signal?: AbortSignal,
  lookUp: LookUp = lookUpAt(),
): Promise<AttemptOutcome> {
  const began = monotonicMs();
  const elapsed = () => Math.round(monotonicMs() - began);
  const failed = (reason: string): AttemptOutcome => ({ ...UNANSWERED, ms: elapsed(), reason });
  signal?.throwIfAborted();
  const fault = checkUrl(attempt.url, rules);
  if (fault) return failed(`The address is refused: ${fault.replace(/\.$/, '')}`);
  using limit = new Deadline(TOTAL_MS, `Your server did not answer within ${TOTAL_MS / SECOND_MS} s`, signal);
  let socket: Socket | undefined;
  limit.signal.addEventListener('abort', () => socket?.destroy(limit.signal.reason), { once: true });
  try {
    const url = new URL(attempt.url);
    const connection = await connectChecked(url, rules, lookUp, attempt.at, limit.signal);
    socket = connection.socket;
    limit.signal.throwIfAborted();
    const response = await post(socket, url, attempt);
    const [status, ms] = [response.statusCode!, elapsed()];
    const ok = status >= 200 && status <= 299;
    const bytes = await firstOf(response);
    const isShown = connection.isPublic && !response.headers['content-encoding'];
    return {
      ok,
      status,
      ms,
      reason: answered(status, ms),
      reply: isShown ? harmlessText(new TextDecoder().decode(bytes)) : null,
      retryAfterMs: ok ? null : retryAfter(response.headers['retry-after'], attempt.at + elapsed()),
    };
  } catch (error) {
    signal?.throwIfAborted();
    return failed(reasonOf(error));
  } finally {
    socket?.destroy();
  }
}
