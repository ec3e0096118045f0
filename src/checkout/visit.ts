// One look at a payment's page: in which language and light, and the address of the next.
import type { FastifyRequest } from 'fastify';
import { type Html, html } from '../lib/html.ts';
import { pathOf } from '../lib/web-address.ts';
import { page, THEMES, type Theme } from '../ui/page.ts';
import { LANGUAGES, type Languages, type Words } from './languages.ts';

export const PAGE_PATH = 'payment.php';
const THEME_COOKIE = 'counterfoil_theme';
const YEAR_S = 365 * 24 * 60 * 60;

/** What the address may say besides the payment. */
const PARAMETERS = ['payment_id', 'lang', 'method', 'view', 'edit', 'theme'] as const;
export type Parameters = Partial<Record<(typeof PARAMETERS)[number], string | undefined>>;

export interface Visit {
  words: Words;
  theme: Theme | undefined;
  /** The parameters as they came, each once; a repeated one counts as none. */
  asked: Parameters;
  /** The checkout's base URL, without a slash at its end, and its path. */
  baseUrl: string;
  basePath: string;
  /** The address of the same payment in the same language, with `change` made to it. */
  address(change?: Parameters): string;
}

export function visitOf(request: FastifyRequest, languages: Languages, baseUrl: string): Visit {
  const basePath = pathOf(baseUrl);
  const query = request.query as Record<string, unknown>;
  const asked: Parameters = {};
  for (const name of PARAMETERS) if (typeof query[name] === 'string') asked[name] = query[name];
  const words = languages.choose(asked.lang, request.headers['accept-language']);
  const cookie = new RegExp(`(?:^|;\\s*)${THEME_COOKIE}=(\\w+)`).exec(request.headers.cookie ?? '')?.[1];
  return {
    words,
    theme: THEMES.find((theme) => theme === cookie),
    asked,
    baseUrl,
    basePath,
    address(change = {}) {
      const { payment_id, lang } = asked;
      const named = lang === undefined ? {} : { lang: words.tag };
      return addressOf(basePath, { payment_id, ...named, ...change });
    },
  };
}

/** The same visit with nothing in it that tells which payment was asked for. */
export function anonymous(visit: Visit): Visit {
  const { words, asked, basePath } = visit;
  const { lang } = asked;
  return {
    ...visit,
    asked: { lang },
    address: (change = {}) =>
      addressOf(basePath, { ...(lang !== undefined && { lang: words.tag }), ...change }),
  };
}

function addressOf(basePath: string, parameters: Parameters): string {
  const pairs = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const text = new URLSearchParams(pairs).toString();
  return `${basePath}/${PAGE_PATH}${text && `?${text}`}`;
}

/** The cookie that keeps a choice of light or dark for a year; `auto` forgets it. */
export function themeCookie(choice: string, basePath: string, https: boolean): string {
  const kept = THEMES.find((theme) => theme === choice);
  return `${THEME_COOKIE}=${kept ?? ''}; Max-Age=${kept ? YEAR_S : 0}; Path=${basePath || '/'}; HttpOnly; SameSite=Lax${https ? '; Secure' : ''}`;
}

export interface Framed {
  /** The page's heading as text, for its title. */
  heading: string;
  /** The merchant's name, which stands at the top. */
  merchant?: string | undefined;
  test?: boolean;
  content: Html;
  wide?: boolean;
  /** Whether the page tells what is wrong with a form. */
  wrong?: boolean;
}

/** A whole page of checkout. */
export function framed(visit: Visit, { heading, merchant, test, content, wide, wrong }: Framed): string {
  const { words, theme, basePath } = visit;
  const named =
    merchant === undefined || heading.includes(merchant)
      ? heading
      : words.text('title', { heading, merchant });
  return page({
    language: words,
    theme,
    basePath,
    title: wrong ? words.text('error.title', { title: named }) : named,
    skip: words.html('skip'),
    header: html`${merchant !== undefined && html`<p class="brand"><bdi>${merchant}</bdi></p>`}${test && html`<p class="ribbon">${words.html('test')}</p>`}`,
    content,
    wide: wide ?? false,
    footer: preferences(visit),
  });
}

/** The language and the light, each a link, so that they need no script. */
function preferences({ words, theme, asked, address }: Visit): Html {
  // What the page shows beside its state stays as it is; a form's address becomes the page's own.
  const { method, view, edit } = asked;
  const here = { method, view, edit };
  const languages = LANGUAGES.map(
    ({ tag, name }) =>
      html`<li><a href="${address({ ...here, lang: tag })}" lang="${tag}" hreflang="${tag}"${tag === words.tag && html` aria-current="true"`}>${name}</a></li>`,
  );
  const themes = [...THEMES, 'auto' as const].map(
    (one) =>
      html`<li><a href="${address({ ...here, theme: one })}"${one === (theme ?? 'auto') && html` aria-current="true"`}>${words.html(`theme.${one}`)}</a></li>`,
  );
  return html`<nav aria-label="${words.text('footer.language')}"><details><summary><span class="muted">${words.html('footer.language')}:</span> ${words.name}</summary><ul>${languages}</ul></details></nav>
<nav aria-label="${words.text('footer.theme')}"><ul>${themes}</ul></nav>`;
}
