// The frame of the documentation's pages: the search above, the pages beside, the choice of light or dark below.
import { type Html, html } from '../../lib/html.ts';
import type { Language } from '../../lib/locale.ts';
import { docsStylesheet } from '../markup/assets.ts';
import { icon } from '../markup/icons.ts';
import { htmlPage } from '../markup/page.ts';
import { themeSwitch } from '../markup/theme.ts';
import { type Page, search } from './book.ts';
import type { Links } from './markdown.ts';
import { type DocsVisit, SLUGS } from './pages.ts';

/** The documents are in English, whatever the browser asks for. */
const ENGLISH: Language = { tag: 'en', name: 'English', direction: 'ltr' };
const THEME_NAMES = { light: 'Light', dark: 'Dark', auto: 'Same as your device' } as const;

/** The address of a page below `/docs`, with the language of examples that was chosen. */
const addressOf = ({ basePath, asked }: DocsVisit, below: string, anchor = '') =>
  `${basePath}${below}${asked.code === undefined ? '' : `?code=${asked.code}`}${anchor}`;

/** Where links of documents lead from the page of `visit`. `rootPath`: of the base URL. */
export function linksOf(visit: DocsVisit, rootPath: string): Links {
  return {
    chosen: visit.asked.code ?? 'sh',
    inLanguage: (code) => visit.address({ code }),
    addressOf(href) {
      if (href.startsWith('#')) return href;
      if (href.startsWith('/')) return rootPath + href;
      const [, name, anchor] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
      const slug = SLUGS.find((one) => one === name);
      return slug && addressOf(visit, `/${slug}`, anchor);
    },
  };
}

/** A page of the book. */
export function pageMarkup(visit: DocsVisit, pages: readonly Page[], page: Page, content: Html): string {
  const at = pages.indexOf(page);
  const step = (one: Page | undefined, rel: string, word: string) =>
    one &&
    html`<a rel="${rel}" href="${addressOf(visit, `/${one.slug}`)}"><span>${word}</span> ${one.title}</a>`;
  const written = html`${content}
<nav class="steps" aria-label="Pages before and behind">
${step(pages[at - 1], 'prev', 'Before')}<a href="${addressOf(visit, '')}">All pages</a>${step(pages[at + 1], 'next', 'Next')}</nav>
<p class="fine"><a href="${`${visit.basePath}/${page.slug}.md`}">This page as Markdown</a></p>`;
  return framed(visit, pages, page, page.title, written);
}

/** The list of pages, or what a search found. */
export function frontMarkup(visit: DocsVisit, pages: readonly Page[], asked: string): string {
  if (asked === '') {
    const content = html`<h1>Counterfoil for developers</h1>
<p>Your server creates a payment, the customer pays on a hosted page, a person decides, and a signed webhook tells you.</p>
${listOf(visit, pages)}
<p class="fine">For programs: <a href="${visit.basePath.replace(/\/docs$/, '')}/llms.txt">llms.txt</a>, and each page as Markdown.</p>`;
    return framed(visit, pages, undefined, 'Developers', content);
  }
  const found = search(pages, asked);
  const rows = found.map(({ page, section, excerpt }) => {
    const isWhole = section === page.sections[0];
    const name = isWhole ? page.title : html`${section.title} <span class="muted">${page.title}</span>`;
    const anchor = isWhole ? '' : `#${section.id}`;
    return html`<li><a href="${addressOf(visit, `/${page.slug}`, anchor)}">${name}</a><p>${excerpt}</p></li>\n`;
  });
  const content = html`<h1>Search</h1>
<p role="status">${found.length === 0 ? 'Nothing has all of these words' : `${found.length} found`}: <q>${asked}</q></p>
<ul class="contents">
${rows}</ul>`;
  return framed(visit, pages, undefined, `Search: ${asked}`, content);
}

/** The page of an address that has none. */
export function missingMarkup(visit: DocsVisit, pages: readonly Page[]): string {
  const content = html`<h1>There is no such page</h1>
<p>The documentation has nothing at this address. Search it above, or choose one of its pages:</p>
${listOf(visit, pages)}`;
  return framed(visit, pages, undefined, 'There is no such page', content);
}

function listOf(visit: DocsVisit, pages: readonly Page[]): Html {
  const rows = pages.map(
    ({ slug, title, lead }) =>
      html`<li><a href="${addressOf(visit, `/${slug}`)}">${title}</a><p>${lead}</p></li>\n`,
  );
  return html`<ul class="contents">
${rows}</ul>`;
}

function framed(
  visit: DocsVisit,
  pages: readonly Page[],
  page: Page | undefined,
  title: string,
  content: Html,
): string {
  const { basePath, theme, asked } = visit;
  const contents = (deepest: number) => {
    const links = pages.map((one) => {
      const current = one === page && html` aria-current="page"`;
      const within = one === page && one.slug !== 'changelog' && sectionsOf(one, deepest);
      return html`<li><a href="${addressOf(visit, `/${one.slug}`)}"${current}>${one.title}</a>${within}</li>\n`;
    });
    return html`<ul>\n${links}</ul>`;
  };
  return htmlPage({
    language: ENGLISH,
    theme,
    basePath,
    title: `${title} – Counterfoil`,
    skip: html`Skip to the content`,
    header: html`<div class="bar"><p class="brand"><a href="${addressOf(visit, '')}">Counterfoil <span>docs</span></a></p>
<form role="search" action="${basePath}" method="get">
${asked.code !== undefined && html`<input type="hidden" name="code" value="${asked.code}">`}
<label class="vh" for="q">Search the documentation</label>
<input id="q" name="q" type="search" maxlength="100" value="${asked.q ?? ''}" placeholder="Search">
<button aria-label="Search">${icon('search')}</button></form></div>`,
    // A wide page shows the first, a narrow one the second, with the operations of the reference.
    beside: html`<nav class="book" aria-label="Pages">${contents(2)}</nav>
<details class="book"><summary>Contents</summary><nav aria-label="Contents">${contents(page?.slug === 'reference' ? 3 : 2)}</nav></details>`,
    content,
    looks: { body: 'docs', main: 'document' },
    footer: themeSwitch('Colours', theme, {
      nameOf: (one) => THEME_NAMES[one],
      addressOf: (one) => visit.address({ ...asked, theme: one }),
    }),
    sheet: docsStylesheet,
  });
}

/** The headings of the page that is shown, from the second level to the `deepest`. */
function sectionsOf({ sections }: Page, deepest: number): Html {
  const own = sections.filter(({ depth }) => depth >= 2 && depth <= deepest);
  const rows = own.map(
    ({ id, title, depth }) =>
      html`<li${depth === 3 && html` class="below"`}><a href="#${id}">${title}</a></li>\n`,
  );
  return html`<ul>${rows}</ul>`;
}
