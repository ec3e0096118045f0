// What pages are made of: routes that say who may, and the answers that they come to, which their surface frames and sends.
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Html } from '../../lib/html.ts';
import type { Permission } from '../endpoint.ts';
import type { Noted } from '../request-log.ts';

interface Sent {
  /** `set-cookie` and the like. */
  headers?: Readonly<Record<string, string | string[]>> | undefined;
  /** The faults of a form, by their fields: the log names the fields. */
  faults?: Readonly<Record<string, unknown>>;
  /** For the log: why it shows nothing else. */
  noted?: Noted;
  /** 200, or 422 if there are faults, if undefined. */
  status?: number | undefined;
}

/** A page: what stands within `main`. A surface's own type says what else its frame takes. */
export interface Framed extends Sent {
  content: Html;
}

/** An answer that is sent as it is: a whole page, or a picture with a `content-type` of its own. */
export interface WholeAnswer extends Sent {
  text: string | Buffer;
}

/** 303 to another address. After a form to its content: the browser would go on with the `#errors` of the form's address. */
export interface Redirect extends Sent {
  to: string;
}

/** A file to be kept. */
export interface Download extends Sent {
  stream: Readable;
  type: string;
  name: string;
}

export type PageAnswer<S extends Framed> = S | WholeAnswer | Redirect | Download;

/** Takes a request as Fastify hands it in, and returns the body of its answer. */
export type Handler = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<string | Buffer | Readable | FastifyReply>;

/**
 * A page, or what a form does. Errors are thrown: an `OperationalError` becomes a page that says its message, with its status, and
 * anything else the page of a failure; faults of a form are the page's own to show.
 */
export interface PageRoute<V, A> {
  method: 'GET' | 'POST';
  /** Below the surface's address, as Fastify takes it: `/payments/:payment_id`; `/` is the first page. */
  path: string;
  may: Permission | 'anyone';
  /** The path of the page itself or, for POST, of the page that the form stands on, with the same parameters. */
  page: string;
  /** Set if each GET is recorded in the history. Such a page answers no HEAD, which would be recorded too. */
  isTold?: true;
  /** Set if its form brings files (`FilesForm`): the body is read only after the surface has admitted the visit. */
  takesFiles?: true;
  /** Set if a script asks by itself: that keeps no session alive. */
  isBackground?: true;
  /** Set if it also gets forms of other sites. It must refuse them itself. */
  takesForeign?: true;
  answer(visit: V): A | Promise<A>;
  /** The page of a form that failed, with what identifies the failure below it. If undefined, the surface's own. */
  failed?(visit: V, more: Html): A | undefined;
  /** For an address to which programs post, too: makes `scope` read what they send, and returns what takes that and forms. */
  beside?: (scope: FastifyInstance, takeForm: Handler) => Handler;
}

export const pageAt = <V, A>(
  path: string,
  may: Permission | 'anyone',
  answer: (visit: V) => A | Promise<A>,
): PageRoute<V, A> => ({ method: 'GET', path, may, page: path, answer });

/** A form's POST to `path`. `standsOn` is the path of its page: a draft is shown there again, and a GET of `path` leads there. */
export const formAt = <V, A>(
  path: string,
  may: Permission | 'anyone',
  answer: (visit: V) => A | Promise<A>,
  standsOn = path,
): PageRoute<V, A> => ({ method: 'POST', path, may, page: standsOn, answer });
