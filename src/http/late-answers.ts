// Answers 503 where a request has no answer in time, whatever it waits for: several waits, each within its limit, add up.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { unavailable } from '../lib/errors.ts';
import { monotonicMs } from '../lib/time.ts';
import { LIMITS } from './server.ts';

/** How often those that wait are looked through. */
const EACH_MS = 250;

/** Looks after every request of `app`. What a request began goes on: whether it was done is not known to its caller, as with any 503. */
export function refuseLateAnswers(app: FastifyInstance): void {
  /** Without an answer yet; since when, by the clock that never runs backwards. */
  const open = new Map<FastifyReply, number>();
  app.addHook('onRequest', (_request, reply, done) => {
    open.set(reply, monotonicMs());
    done();
  });
  app.addHook('onResponse', (_request, reply, done) => {
    open.delete(reply);
    done();
  });
  const timer = setInterval(() => {
    const now = monotonicMs();
    for (const [reply, since] of open) {
      if (now - since < LIMITS.answerMs) continue;
      const { complete, destroyed } = reply.request.raw;
      // Whose body is still on its way keeps us waiting, and not the other way round: the server's own limit is for those.
      if (!complete && !destroyed) open.set(reply, now);
      else {
        open.delete(reply);
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
