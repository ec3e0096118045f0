// The frame of a page in the visitor's language: whose page it is above, and the choice of language and theme below.
import { type Html, html } from '../../lib/html.ts';
import { LANGUAGES } from '../markup/languages.ts';
import { htmlPage } from '../markup/page.ts';
import { THEMES } from '../markup/theme.ts';
import type { PageVisit, Parameters } from './visit.ts';

interface Framed<Name extends string = never> {
  /** The page's heading as text, for its title. */
  heading: string;
  /** The name at the top; the site's own if undefined. */
  brand?: string | undefined;
  test?: boolean;
  /** For the title and previews of links: the amount, which tells one payment's page from another's. */
  amount?: string;
  content: Html;
  /** The words of the skip link; the site's own if undefined. */
  skip?: Html;
  wide?: boolean;
  /** Whether the page says what is wrong with a form. */
  wrong?: boolean;
  /** What the address of this very page holds beside what is kept; null if no address shows it again. */
  here?: Parameters<Name> | null;
}

/** A whole page. */
export function framedPage<Name extends string>(visit: PageVisit<Name>, parts: Framed<Name>): string {
  const { words, theme, basePath, site } = visit;
  const { heading, brand = site.brand, test, amount, content, wide = false, wrong, here } = parts;
  const named =
    brand === undefined || heading.includes(brand)
      ? heading
      : words.text('title', { heading, merchant: brand });
  const title = amount === undefined ? named : `${named} – ${amount}`;
  return htmlPage({
    language: words,
    theme,
    basePath,
    title: wrong ? words.text('error.title', { title }) : title,
    preview: amount === undefined ? undefined : { title: named, description: amount },
    skip: parts.skip ?? words.html(site.words.skip),
    header: html`${brand !== undefined && html`<p class="brand"><bdi>${brand}</bdi></p>`}${
      test && html`<p class="ribbon">${words.html('test')}</p>`
    }`,
    content,
    wide,
    footer:
      here === null
        ? html``
        : preferences(visit, visit.address({ lang: undefined, ...here } as Parameters<Name>)),
  });
}

/** The choice of language and theme, each a link, so that no script is needed. */
function preferences({ words, theme, asked }: PageVisit, here: string): Html {
  const to = html`${here}${here.includes('?') ? '&' : '?'}`;
  const link = (query: string, attributes: Html | null, text: Html | string, isCurrent: boolean) =>
    html`<li><a href="${to}${query}"${attributes}${isCurrent && html` aria-current="true"`}>${text}</a></li>`;
  const languages = LANGUAGES.map(({ tag, name }) =>
    link(`lang=${tag}`, html` lang="${tag}" hreflang="${tag}"`, name, tag === words.tag),
  );
  const kept = asked.lang === undefined ? '' : `lang=${words.tag}&`;
  const themes = [...THEMES, 'auto' as const].map((one) =>
    link(`${kept}theme=${one}`, null, words.html(`theme.${one}`), one === (theme ?? 'auto')),
  );
  const current = html`<span class="muted">${words.html('footer.language')}:</span> ${words.name}`;
  return html`<nav aria-label="${words.text('footer.language')}"><details><summary>${current}</summary><ul>${languages}</ul></details></nav>
<nav aria-label="${words.text('footer.theme')}"><ul>${themes}</ul></nav>`;
}
