// The one way to a page of the console: who it is, whether they may, and whether what they send comes from a page of ours.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { isSameOrigin } from '../../web/pages/form.ts';
import { may } from '../administrator.ts';
import { hasToken } from './cookies.ts';
import { notice } from './parts.ts';
import * as problem from './problem.ts';
import type { Outcome, Route } from './route.ts';
import { askToSignIn, type Draft, filledPath } from './sign-in-page.ts';
import {
  type ConsolePlace,
  contextOf,
  preferred,
  problemPlace,
  seeOther,
  show,
  type Visit,
  visitOf,
} from './visit.ts';

/** The handler of `route`, which is undefined for an address without a page: checks, in this order, origin, session, role and token. */
export function guarded(place: ConsolePlace, route: Route | undefined) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const visit = await visitOf(request, reply, place);
    const { principal } = visit;
    const params = request.params as Record<string, string>;
    const isPost = request.method === 'POST';
    const form = isPost ? (request.body as URLSearchParams) : new URLSearchParams();
    const draft = isPost && route ? { page: route.page, params, form } : undefined;
    if (isPost && !isSameOrigin(request.headers, new URL(place.baseUrl).origin, false))
      return show(visit, problem.foreign(problemPlace(visit)));
    if (!principal) return askToSignIn(visit, draft);
    const choice = isPost ? undefined : preferred(visit);
    if (choice) {
      reply.header('set-cookie', choice.cookie);
      return seeOther(visit, choice.to);
    }
    if (!route) return show(visit, problem.missing(problemPlace(visit)));
    if (!may(principal.role, route.permission))
      return show(visit, problem.forbidden(problemPlace(visit), principal.role));
    if (draft && !hasToken(form, visit.formKey)) return showDraft(visit, draft, 'stale');
    if (route.isBackground) reply.removeHeader('set-cookie');
    return send(visit, await route.answer(contextOf(visit, principal, params, form)));
  };
}

const WHY = {
  late: phrase(
    'You are signed in again. What you typed is still here, and nothing was done with it yet: look at it and send it.',
  ),
  stale: phrase(
    'This page was older than your sign-in. What you typed is still here, and nothing was done with it yet: look at it and send it.',
  ),
} as const;

/**
 * Shows the page of a form filled in with `draft`: sent without a session (`late`), or with a token of another session (`stale`). It only
 * fills in, so it is safe for a form of any origin.
 */
export async function showDraft(
  visit: Visit,
  { page, params, form }: Draft,
  why: keyof typeof WHY,
): Promise<FastifyReply> {
  const { place, principal } = visit;
  const route = place.pages.get(page);
  const path = filledPath(page, params);
  if (!principal || !route || path === undefined) return seeOther(visit, place.path);
  if (!may(principal.role, route.permission))
    return show(visit, problem.forbidden(problemPlace(visit), principal.role));
  const there: Visit = { ...visit, here: place.path + path };
  const outcome = await route.answer(contextOf(there, principal, params, form));
  if (!('content' in outcome)) return send(there, outcome);
  const content = html`${notice(html`<p>${visit.tongue.say.of(WHY[why])}</p>`, 'warn')}\n${outcome.content}`;
  return show(there, { ...outcome, content, status: why === 'late' ? 200 : 403 });
}

async function send(visit: Visit, outcome: Outcome): Promise<FastifyReply> {
  const { reply } = visit;
  if ('to' in outcome) {
    reply.headers(outcome.headers ?? {});
    return seeOther(visit, outcome.to);
  }
  if ('content' in outcome) return show(visit, outcome);
  return reply
    .headers({
      'content-type': outcome.type,
      'content-disposition': `attachment; filename="${outcome.name.replaceAll(/[^\w.-]/g, '_')}"`,
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
    .send(outcome.stream);
}
