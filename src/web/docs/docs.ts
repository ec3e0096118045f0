// The developer's documentation at /docs: its pages, the same as Markdown, the search, and /llms.txt.
import type { FastifyInstance } from 'fastify';
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

/** What makes and shows the pages, and the pages themselves, read again if the key is another. */
type Book = typeof import('./book.ts') & typeof import('./frame.ts') & { pages: Page[] };

/** Returns what loads the book when it is first asked for, so that a start does not wait for it. */
function bookOf({ installation, key }: DocsSettings): () => Promise<Book> {
  let read: { key: string; pages: Page[] } | undefined;
  return async () => {
    const made = { ...(await import('./book.ts')), ...(await import('./frame.ts')) };
    const shown = key() ?? PLACEHOLDER;
    if (read?.key !== shown) read = { key: shown, pages: made.readBook({ ...installation, key: shown }) };
    return { ...made, pages: read.pages };
  };
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
  const book = bookOf(settings);
  const { baseUrl } = settings.installation;
  const address = `${baseUrl}/docs`;
  const site = docsSite(address, settings.timeZone);
  const show = (name: string, make: (visit: DocsVisit, book: Book) => WholeAnswer) =>
    pageAt(name, 'anyone', async (visit: DocsVisit) => make(visit, await book()));
  const named = (pages: readonly Page[], slug: Slug) => pages.find((page) => page.slug === slug)!;
  const routes: SiteRoute<DocsName>[] = [
    show('/', (visit, { pages, frontMarkup }) =>
      cached(visit, frontMarkup(visit, pages, visit.asked.q?.slice(0, ASKED_MAXIMUM).trim() ?? '')),
    ),
    ...SLUGS.flatMap((slug) => [
      show(`/${slug}`, (visit, { pages, pageMarkup, linksOf }) => {
        const page = named(pages, slug);
        const content = page.markup(linksOf(visit, pathOf(baseUrl)));
        return cached(visit, pageMarkup(visit, pages, page, content));
      }),
      show(`/${slug}.md`, (visit, { pages }) => cached(visit, named(pages, slug).text, TEXT)),
    ]),
    // Its links to itself, as those of the theme, lead to the first page.
    show('/*', ({ request }, { pages, missingMarkup }) => ({
      ...{ status: 404, noted: { code: 'not_found' } },
      text: missingMarkup(pageVisitOf(request, site, '/'), pages),
    })),
  ];
  app.register(async (scope) => serveSite(scope, { ...settings, site, routes, loads: [docsStylesheet] }), {
    prefix: '/docs',
  });
  app.get('/llms.txt', async (_request, reply) => {
    const { pages, llmsText } = await book();
    const headers = { ...API_HEADERS, ...TEXT, 'cache-control': 'public, max-age=3600' };
    return reply.headers(headers).send(llmsText(pages, address, baseUrl));
  });
}
