// One look at a payment's page: in which language and light, and the address of the next.
import type { FastifyRequest } from 'fastify';
import { type Html, html, slotted } from '../lib/html.ts';
import { isPaymentId } from '../payments/payment.ts';
import { PAYMENT_PAGE } from '../payments/present.ts';
import { page } from '../ui/page.ts';
import { THEMES, type Theme, themeOf } from '../ui/theme.ts';
import { LANGUAGES, type Languages, type Words } from './languages.ts';

/** What the address may say besides the payment. */
const PARAMETERS = ['payment_id', 'lang', 'method', 'view', 'edit', 'theme'] as const;
const CHANGEABLE = ['method', 'view', 'edit', 'theme'] as const;
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

/** Where checkout is, and the languages it speaks. */
export interface Place {
  languages: Languages;
  baseUrl: string;
  basePath: string;
}

export function visitOf(request: FastifyRequest, { languages, baseUrl, basePath }: Place): Visit {
  const query = request.query as Record<string, unknown>;
  const asked: Parameters = {};
  for (const name of PARAMETERS) if (typeof query[name] === 'string') asked[name] = query[name];
  if (asked.payment_id !== undefined && !isPaymentId(asked.payment_id)) delete asked.payment_id;
  const words = languages.choose(asked.lang, request.headers['accept-language']);
  const theme = themeOf(request.headers.cookie);
  return { words, theme, asked, baseUrl, basePath, address: addresses(basePath, words, asked) };
}

/** The same visit with nothing in it that tells which payment was asked for. */
export function anonymous(visit: Visit): Visit {
  const { words, asked, basePath } = visit;
  const rest = { lang: asked.lang };
  return { ...visit, asked: rest, address: addresses(basePath, words, rest) };
}

/**
 * The addresses of one payment's pages, in the same language where `lang` is said. `payment_id` is one (`isPaymentId`), so that
 * it stands in an address as it is.
 */
export function addresses(
  basePath: string,
  words: Words,
  { payment_id, lang }: Parameters,
): Visit['address'] {
  const page = `${basePath}/${PAYMENT_PAGE}`;
  const first = payment_id === undefined ? '' : `?payment_id=${payment_id}`;
  const language = lang === undefined ? undefined : words.tag;
  return (change = {}) => {
    let query = first;
    const add = (name: keyof Parameters, value: string | undefined) => {
      if (value !== undefined) query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
    };
    add('lang', 'lang' in change ? change.lang : language);
    for (const name of CHANGEABLE) if (name in change) add(name, change[name]);
    return page + query;
  };
}

export interface Framed {
  /** The page's heading as text, for its title. */
  heading: string;
  /** The merchant's name, which stands at the top. */
  merchant?: string | undefined;
  test?: boolean;
  content: Html;
  wide?: boolean;
  /** What the page shows beside its state, which its links to other languages keep. */
  here?: Parameters;
  /** Whether the page tells what is wrong with a form. */
  wrong?: boolean;
}

/** A whole page of checkout. */
export function framed(
  visit: Omit<Visit, 'baseUrl'>,
  { heading, merchant, test, content, wide, here, wrong }: Framed,
): string {
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
    footer: preferences(visit, here),
  });
}

/** The language and the light, each a link, so that they need no script. */
function preferences({ words, theme, asked, address }: Omit<Visit, 'baseUrl'>, shown: Parameters = {}): Html {
  const here = address({ lang: undefined, ...shown });
  const named = asked.lang !== undefined;
  const name = `preferences ${theme} ${named} ${here.includes('?')}`;
  return words.remembered(name, () => slotted((slot) => choices(words, theme, named, slot, here)))(here);
}

function choices(words: Words, theme: Theme | undefined, named: boolean, slot: Html, here: string): Html {
  const joint = here.includes('?') ? '&' : '?';
  const link = (query: string, attributes: Html | null, text: Html | string, current: boolean) =>
    html`<li><a href="${slot}${joint}${query}"${attributes}${current && html` aria-current="true"`}>${text}</a></li>`;
  const languages = LANGUAGES.map(({ tag, name }) =>
    link(`lang=${tag}`, html` lang="${tag}" hreflang="${tag}"`, name, tag === words.tag),
  );
  const kept = named ? `lang=${words.tag}&` : '';
  const themes = [...THEMES, 'auto' as const].map((one) =>
    link(`${kept}theme=${one}`, null, words.html(`theme.${one}`), one === (theme ?? 'auto')),
  );
  return html`<nav aria-label="${words.text('footer.language')}"><details><summary><span class="muted">${words.html('footer.language')}:</span> ${words.name}</summary><ul>${languages}</ul></details></nav>
<nav aria-label="${words.text('footer.theme')}"><ul>${themes}</ul></nav>`;
}
