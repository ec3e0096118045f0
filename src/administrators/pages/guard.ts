// The one way to a page of the console: who it is, whether they may, and whether what they send comes from a page of ours.
import { OperationalError } from '../../lib/errors.ts';
import { html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { may } from '../administrator.ts';
import { hasToken } from './cookies.ts';
import { notice } from './parts.ts';
import * as problem from './problem.ts';
import type { Context, Outcome, Route, Visit } from './route.ts';
import { askToSignIn, type Draft, filledPath } from './sign-in-page.ts';

/**
 * What a visit is answered instead, if it may not do what the route does: checks, in this order, session, role and token. Throws
 * `bad_request` for what PostgreSQL does not take as text, and no keyboard writes.
 */
export async function admit(visit: Visit, route: Route<never>): Promise<Outcome | undefined> {
  const { request, principal, params, form } = visit;
  if (request.raw.url!.includes('%00') || `${form}`.includes('%00'))
    throw new OperationalError('bad_request', phrase('A text holds the character NUL.'));
  if (route.may === 'anyone') return undefined;
  // Files are not read yet when this is asked for the first time.
  const draft = request.body instanceof URLSearchParams ? { page: route.page, params, form } : undefined;
  if (!principal) return askToSignIn(visit, draft);
  if (!may(principal.role, route.may)) return problem.forbidden(visit, principal.role);
  return draft && !hasToken(form, visit.formKey) ? draftPage(visit, draft, 'stale') : undefined;
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
 * The page of a form filled in with `draft`: sent without a session (`late`), or with a token of another session (`stale`). It only
 * fills in, so it is safe for a form of any origin.
 */
export async function draftPage(
  visit: Visit,
  { page, params, form }: Draft,
  why: keyof typeof WHY,
): Promise<Outcome> {
  const { principal, say } = visit;
  const route = visit.pages.get(page);
  const path = filledPath(page, params);
  if (!principal || !route || path === undefined) return { to: visit.path };
  if (route.may === 'anyone' || !may(principal.role, route.may))
    return problem.forbidden(visit, principal.role);
  Object.assign(visit, { params, form, here: visit.path + path });
  const outcome = await route.answer(visit as Context);
  if (!('content' in outcome)) return outcome;
  const content = html`${notice(html`<p>${say.of(WHY[why])}</p>`, 'warn')}\n${outcome.content}`;
  return { ...outcome, content, status: why === 'late' ? 200 : 403 };
}
