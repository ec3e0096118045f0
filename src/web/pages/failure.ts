// Answers a request that failed with a page: notes why for the log, and reports defects.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OperationalError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { asOperationalError, type Defect, noteError } from '../errors.ts';
import { note } from '../request-log.ts';

export interface FailureLog {
  log: Logger;
  defect: Defect;
}

/** `isPage`: whether such a request is answered with a page. Others are answered as programs are. */
export function showFailures(
  app: FastifyInstance,
  { log, defect }: FailureLog,
  isPage: (request: FastifyRequest, isRefusal: boolean) => boolean,
  show: (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    refusal: OperationalError | undefined,
  ) => FastifyReply | Promise<FastifyReply>,
): void {
  app.setErrorHandler((error, request, reply) => {
    const known = asOperationalError(error);
    const refusal = known && known.status < 500 ? known : undefined;
    if (!isPage(request, refusal !== undefined)) throw error;
    if (known) noteError(request, known);
    else note(request, { code: 'internal_error' });
    if (!known) defect(error, request.id);
    else if (!refusal) log.warn({ request_id: request.id }, known.message);
    if (known?.retryAfterS !== undefined) reply.header('retry-after', String(known.retryAfterS));
    return show(request, reply, known?.status ?? 500, refusal);
  });
}
