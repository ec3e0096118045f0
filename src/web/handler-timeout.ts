// Limits how long a request may be handled: beyond that it is answered 503. Several waits, each within its own limit, can add up to more.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { unavailable } from '../lib/errors.ts';
import { monotonicMs } from '../lib/time.ts';
import { LIMITS } from './server.ts';

/** How often unanswered requests are checked. */
const EACH_MS = 250;

/** A request without an answer. */
interface Waiting {
  reply: FastifyReply;
  /** Monotonic milliseconds. */
  since: number;
}

declare module 'fastify' {
  interface FastifyReply {
    /** Its index in the array of unanswered requests. */
    waitingAt: number;
    /** Milliseconds added to the limit of this request, such as those of `Prefer: wait`. */
    patienceMs: number;
  }
}

/*
 * Fastify's `handlerTimeout` (5.12) does not keep the promise. Its timer runs while the body still arrives, so a slow upload would be
 * answered 503 by it and not 408 by the server. It destroys a response that has begun, so a long download would be cut.
 */

/** Limits every request of `app`. A work that has begun still runs to its end: as with any 503, the client does not know the outcome. */
export function limitHandlers(app: FastifyInstance, answerMs = LIMITS.answerMs): void {
  // An array instead of a Map: a Map's replaced hash tables kept answered requests alive until the next full collection (2.5 KB a request).
  const waiting: Waiting[] = [];
  const forget = (reply: FastifyReply) => {
    const at = reply.waitingAt;
    if (waiting[at]?.reply !== reply) return;
    const last = waiting.pop()!;
    if (last.reply === reply) return;
    waiting[at] = last;
    last.reply.waitingAt = at;
  };
  app.decorateReply('waitingAt', -1);
  app.decorateReply('patienceMs', 0);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.waitingAt = waiting.push({ reply, since: monotonicMs() }) - 1;
    done();
  });
  app.addHook('onResponse', (_request, reply, done) => {
    forget(reply);
    done();
  });
  const timer = setInterval(() => {
    const now = monotonicMs();
    for (const one of waiting.filter(({ since, reply }) => now - since >= answerMs + reply.patienceMs)) {
      const { reply } = one;
      const { complete, destroyed } = reply.request.raw;
      // Skip requests whose body is still arriving. The server's request timeout covers them.
      if (!complete && !destroyed) one.since = now;
      else {
        forget(reply);
        refuse(reply);
      }
    }
  }, EACH_MS).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
}

/** A response that has begun is not cut: a download may take longer. */
function refuse(reply: FastifyReply): void {
  if (reply.sent || reply.raw.headersSent || reply.raw.destroyed) return;
  reply.send(Object.assign(unavailable(), { cause: new HandlerTimeout() })); // in the error format of its surface
}

class HandlerTimeout extends Error {
  override readonly name = 'HandlerTimeout';
  readonly failure = `no answer within ${LIMITS.answerMs} ms`;
}
