// Answers 503 where a request has no answer in time, whatever it waits for: several waits, each within its limit, add up.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { unavailable } from '../lib/errors.ts';
import { monotonicMs } from '../lib/time.ts';
import { LIMITS } from './server.ts';

/** How often those that wait are looked through. */
const EACH_MS = 250;

/** A request without an answer. */
interface Waiting {
  reply: FastifyReply;
  /** By the clock that never runs backwards. */
  since: number;
}

declare module 'fastify' {
  interface FastifyReply {
    /** Where it stands among those that wait, as long as it does. */
    waitingAt: number;
    /** Milliseconds that its answer may take beyond the limit of all: what it was asked to wait. */
    patienceMs: number;
  }
}

/*
 * Fastify's `handlerTimeout` (5.12) does not keep the promise. Its timer runs while the body still arrives, so a slow upload would be
 * answered 503 by it and not 408 by the server. It destroys a response that has begun, so a long download would be cut.
 */

/** Looks after every request of `app`. What a request began goes on: whether it was done is not known to its caller, as with any 503. */
export function refuseLateAnswers(app: FastifyInstance): void {
  // No Map or Set: the tables that one replaces when they are full, of what was deleted too, lead from the older to the newer and hold what
  // was in them, so that requests long answered would lie about until the whole heap is collected.
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
    for (const one of waiting.filter(
      ({ since, reply }) => now - since >= LIMITS.answerMs + reply.patienceMs,
    )) {
      const { reply } = one;
      const { complete, destroyed } = reply.request.raw;
      // Whose body is still on its way keeps us waiting, and not the other way round: the server's own limit is for those.
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

/** Never where an answer has begun: a download takes as long as it takes. */
function refuse(reply: FastifyReply): void {
  if (reply.sent || reply.raw.headersSent || reply.raw.destroyed) return;
  reply.send(Object.assign(unavailable(), { cause: new AnswerLate() })); // in the shape that the place has for errors
}

class AnswerLate extends Error {
  override readonly name = 'AnswerLate';
  readonly failure = `no answer within ${LIMITS.answerMs} ms`;
}
