// Serves the pages of a site, which are for everybody: what its surface is handed in, and how an address keeps a choice of theme.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../lib/time.ts';
import { type Asset, assets } from '../markup/assets.ts';
import { pageHeaders } from '../markup/page.ts';
import { themeCookie } from '../markup/theme.ts';
import { framedPage, type SitePage } from './framed-page.ts';
import { failedPage, failureFacts, refusedPage } from './problem.ts';
import type { PageAnswer, PageRoute, Redirect } from './route.ts';
import { type FailureLog, servePages } from './surface.ts';
import { type PageSite, type PageVisit, pageVisitOf } from './visit.ts';

export type SiteRoute<Name extends string = never> = PageRoute<PageVisit<Name>, SiteAnswer>;
export type SiteAnswer = PageAnswer<SitePage>;

interface Site<Name extends string> extends FailureLog {
  clock: Clock;
  site: PageSite<Name>;
  routes: readonly SiteRoute<Name>[];
  /** What its pages load beside what all pages load. */
  loads?: readonly Asset[];
  /** Which failed requests are answered with a page; if undefined, every failure and the refused forms. */
  isPage?(request: FastifyRequest, isRefusal: boolean): boolean;
}

/** Adds the routes of a site to `app`, whose prefix is the path of the site's base URL. */
export function serveSite<Name extends string>(app: FastifyInstance, parts: Site<Name>): void {
  const { clock, log, defect, site, routes, loads = [], isPage } = parts;
  const headers = pageHeaders(site.baseUrl);
  const visit = (request: FastifyRequest, { path }: SiteRoute<Name>) => pageVisitOf(request, site, path);
  servePages<PageVisit<Name>, SitePage>(app, {
    ...{ clock, log, defect, routes, visit, stranger: visit },
    assets: [...assets, ...loads],
    origin: new URL(site.baseUrl).origin,
    trustsUnsaid: true,
    keep: keepTheme,
    frame: framedPage,
    headers: () => headers,
    foreign: refusedPage,
    failed: (visit, route, _status, refusal) =>
      route.failed?.(visit, failureFacts(visit)) ?? (refusal ? refusedPage(visit) : failedPage(visit)),
    isPage: isPage ?? ((request, isRefusal) => !isRefusal || request.method === 'POST'),
  });
}

function keepTheme<Name extends string>(visit: PageVisit<Name>): Redirect | undefined {
  const { site, asked, words, address } = visit;
  if (asked.theme === undefined) return undefined;
  const lang = asked.lang === undefined ? undefined : words.tag;
  const to = address({ ...asked, lang, theme: undefined });
  return { to, headers: { 'set-cookie': themeCookie(asked.theme, site.baseUrl) } };
}
