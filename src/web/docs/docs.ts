// The developer's documentation at /docs: its pages, the same as Markdown, the search, and /llms.txt.
import type { FastifyInstance } from 'fastify';
import type { Html } from '../../lib/html.ts';
import { sha256 } from '../../lib/secrets.ts';
import type { Clock } from '../../lib/time.ts';
import { pathOf } from '../../lib/web-address.ts';
import { API_HEADERS } from '../headers.ts';
import { docsStylesheet } from '../markup/assets.ts';
import { Languages } from '../markup/languages.ts';
import { pageAt, type WholeAnswer } from '../pages/route.ts';
import { type SiteRoute, serveSite } from '../pages/site.ts';
import type { FailureLog } from '../pages/surface.ts';
import { type PageSite, pageVisitOf } from '../pages/visit.ts';
import type { Page, Served } from './book.ts';
import { type DocsName, type DocsVisit, LANGUAGE_NAMES, SLUGS, type Slug } from './pages.ts';

export interface DocsSettings extends FailureLog {
  clock: Clock;
  timeZone: string;
  installation: Omit<Served, 'key'>;
  /** A test key that may be shown now; undefined if there is none. */
  key(): string | undefined;
}

const PLACEHOLDER = 'cfk_test_YOUR_KEY';
/** Longest search that is looked at. */
const ASKED_MAXIMUM = 100;
const TEXT = { 'content-type': 'text/markdown; charset=utf-8' };

/** What makes and shows the pages: loaded when the first is asked for, so that a start does not wait for it. */
const load = async () => ({ ...(await import('./book.ts')), ...(await import('./frame.ts')) });

class Docs {
  readonly #settings: DocsSettings;
  #read: { key: string; pages: Page[] } | undefined;
  /** Pages as HTML by page and language of the examples. */
  readonly #written = new Map<string, Html>();

  constructor(settings: DocsSettings) {
    this.#settings = settings;
  }

  /** The pages, read again if the key is another. */
  async pages(): Promise<Page[]> {
    const key = this.#settings.key() ?? PLACEHOLDER;
    if (this.#read?.key !== key) {
      const { readBook } = await load();
      this.#written.clear();
      this.#read = { key, pages: readBook({ ...this.#settings.installation, key }) };
    }
    return this.#read.pages;
  }

  async page(visit: DocsVisit, slug: Slug): Promise<WholeAnswer> {
    const pages = await this.pages();
    const { pageMarkup, linksOf } = await load();
    const page = pages.find((one) => one.slug === slug)!;
    const links = linksOf(visit, pathOf(this.#settings.installation.baseUrl));
    const known = `${slug} ${visit.asked.code}`;
    const content = this.#written.get(known) ?? page.markup(links);
    this.#written.set(known, content);
    return cached(visit, pageMarkup(visit, pages, page, content));
  }

  async front(visit: DocsVisit): Promise<WholeAnswer> {
    const pages = await this.pages();
    const { frontMarkup } = await load();
    return cached(visit, frontMarkup(visit, pages, visit.asked.q?.slice(0, ASKED_MAXIMUM).trim() ?? ''));
  }

  /** What stands at an address that no page has. */
  async missing(visit: DocsVisit): Promise<WholeAnswer> {
    const pages = await this.pages();
    const { missingMarkup } = await load();
    return { status: 404, text: missingMarkup(visit, pages), noted: { code: 'not_found' } };
  }

  async text(visit: DocsVisit, slug: Slug): Promise<WholeAnswer> {
    const page = (await this.pages()).find((one) => one.slug === slug)!;
    return cached(visit, page.text, TEXT);
  }
}

/** A page that a browser may keep and asks about each time: an upgrade shows at once, and costs little where there was none. */
function cached({ request }: DocsVisit, text: string, more: Record<string, string> = {}): WholeAnswer {
  const etag = `"${sha256(text).slice(0, 22)}"`;
  const headers = { 'cache-control': 'private, no-cache', etag, vary: 'cookie', ...more };
  const isKnown = String(request.headers['if-none-match']).includes(etag);
  return isKnown ? { status: 304, text: '', headers } : { text, headers };
}

function docsSite(baseUrl: string, timeZone: string): PageSite<DocsName> {
  return {
    languages: Languages.in(timeZone),
    baseUrl,
    parameters: {
      q: {},
      code: { isKept: true, accepts: (value) => Object.hasOwn(LANGUAGE_NAMES, value) },
      lang: {},
      theme: {},
    },
    brand: 'Counterfoil',
    words: { skip: 'register.skip', refused: 'refused.lead', failed: 'failure.lead', back: 'refused.back' },
    backAfterFailure: 'secondary',
  };
}

/** Registers `/docs` and `/llms.txt` on `app`, whose prefix is the path of the base URL. */
export async function docs(app: FastifyInstance, settings: DocsSettings): Promise<void> {
  const book = new Docs(settings);
  const { baseUrl } = settings.installation;
  const address = `${baseUrl}/docs`;
  const site = docsSite(address, settings.timeZone);
  const routes: SiteRoute<DocsName>[] = [
    pageAt('/', 'anyone', (visit) => book.front(visit)),
    ...SLUGS.flatMap((slug) => [
      pageAt(`/${slug}`, 'anyone', (visit: DocsVisit) => book.page(visit, slug)),
      pageAt(`/${slug}.md`, 'anyone', (visit: DocsVisit) => book.text(visit, slug)),
    ]),
    // Its links to itself, as those of the theme, lead to the first page.
    pageAt('/*', 'anyone', ({ request }) => book.missing(pageVisitOf(request, site, '/'))),
  ];
  app.register(async (scope) => serveSite(scope, { ...settings, site, routes, loads: [docsStylesheet] }), {
    prefix: '/docs',
  });
  app.get('/llms.txt', async (_request, reply) => {
    const { llmsText } = await load();
    const headers = { ...API_HEADERS, ...TEXT, 'cache-control': 'public, max-age=3600' };
    return reply.headers(headers).send(llmsText(await book.pages(), address, baseUrl));
  });
}
