// The one way to a page of the console: who it is, whether they may, and whether what they send comes from a page of ours.
import type { FastifyReply } from 'fastify';
import { may } from '../administrators/administrator.ts';
import { html } from '../lib/html.ts';
import { isSameOrigin } from '../pages/form.ts';
import { unpackDraft } from './draft.ts';
import { hasToken } from './form-guard.ts';
import { notice } from './parts.ts';
import * as problem from './problem.ts';
import type { Outcome, Route } from './route.ts';
import { type FoundRoute, findRoute } from './routing.ts';
import { askToSignIn } from './sign-in-page.ts';
import { contextOf, preferred, seeOther, show, type Visit } from './visit.ts';

/** Answers whoever comes to `found`, the route of the address they came to; nothing where there is none. */
export async function answer(
  visit: Visit,
  routes: readonly Route[],
  found: FoundRoute | undefined,
): Promise<FastifyReply> {
  const { request, place, principal } = visit;
  const isPost = request.method === 'POST';
  if (isPost && !isSameOrigin(request.headers, new URL(place.baseUrl).origin, false))
    return show(visit, problem.foreign(place.path));
  if (!principal) return askToSignIn(visit);
  const choice = isPost ? undefined : preferred(visit);
  if (choice) {
    visit.reply.header('set-cookie', choice.cookie);
    return seeOther(visit, choice.to);
  }
  if (!found) {
    const elsewhere = isPost ? undefined : pageOf(visit.target, routes);
    return elsewhere === undefined
      ? show(visit, problem.missing(place.path))
      : seeOther(visit, place.path + elsewhere);
  }
  const { route, params } = found;
  if (!may(principal.role, route.permission))
    return show(visit, problem.forbidden(place.path, principal.role));
  const form = isPost ? (request.body as URLSearchParams) : new URLSearchParams();
  if (isPost && !hasToken(form, visit.formKey)) return showDraft(visit, routes, visit.target, form, 'stale');
  return send(visit, await route.answer(contextOf(visit, principal, params, form)));
}

/** The path of the page that a form sent to `target` stands on. */
function pageOf(target: string, routes: readonly Route[]): string | undefined {
  const found = findRoute(routes, 'POST', target);
  return found?.route.page?.replaceAll(/:(\w+)/g, (_whole, name) =>
    encodeURIComponent(found.params[name] ?? ''),
  );
}

const WHY = {
  late: 'You are signed in again. What you had typed is still here, and nothing was done with it yet: look at it and send it.',
  stale:
    'This page was older than your sign-in. What you had typed is still here, and nothing was done with it yet: look at it and send it.',
} as const;

/**
 * Shows the page on which a form to `target` stands, filled in with `form`: what was sent while nobody was signed in (`late`),
 * or with a token of another session (`stale`). That is safe for a form of whatever origin that came this far: it only fills in.
 */
export async function showDraft(
  visit: Visit,
  routes: readonly Route[],
  target: string,
  form: URLSearchParams,
  why: keyof typeof WHY,
): Promise<FastifyReply> {
  const { place, principal } = visit;
  const [below, query] = split(target);
  const page = pageOf(target, routes) ?? below;
  const found = findRoute(routes, 'GET', page);
  if (!principal || !found) return seeOther(visit, place.path);
  const { route, params } = found;
  if (!may(principal.role, route.permission))
    return show(visit, problem.forbidden(place.path, principal.role));
  const there: Visit = { ...visit, query: new URLSearchParams(query), here: place.path + page };
  const outcome = await route.answer(contextOf(there, principal, params, form));
  if (!('content' in outcome)) return send(there, outcome);
  const content = html`${notice(html`<p>${WHY[why]}</p>`, 'warn')}\n${outcome.content}`;
  return show(there, { ...outcome, content, status: why === 'late' ? 200 : 403 });
}

/** The same for a packed draft, as the pages of signing in carry it. */
export function showPackedDraft(
  visit: Visit,
  routes: readonly Route[],
  target: string,
  packed: string,
): Promise<FastifyReply> {
  return showDraft(visit, routes, target, unpackDraft(packed) ?? new URLSearchParams(), 'late');
}

function split(target: string): [below: string, query: string] {
  const at = target.indexOf('?');
  return at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
}

/** Sends what a page came to. */
export async function send(visit: Visit, outcome: Outcome): Promise<FastifyReply> {
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
    .headers(outcome.headers ?? {})
    .send(outcome.stream);
}
