// The frame of a page in the visitor's language: whose page it is and the choice of language above, where to ask and the theme below.
import { type Html, html } from '../../lib/html.ts';
import { previewPicture } from '../markup/assets.ts';
import { nameOfColours } from '../markup/colours.ts';
import { icon } from '../markup/icons.ts';
import { LANGUAGES } from '../markup/languages.ts';
import { htmlPage } from '../markup/page.ts';
import { languageLinks, themeSwitch, withQuery } from '../markup/theme.ts';
import type { Framed } from './route.ts';
import type { PageVisit } from './visit.ts';

/** A page of a site, as its routes answer with it. */
export interface SitePage extends Framed {
  /** The page's heading as text, for its title. */
  heading: string;
  /** The name at the top; the site's own if undefined. */
  brand?: string | undefined;
  /** The address of the logo beside that name; its first letter stands there if undefined. */
  logo?: string | undefined;
  test?: boolean;
  /** For the title and previews of links: the amount, which tells one payment's page from another's. */
  amount?: string;
  /** How the page is laid out: a stub with its leaf, still whole, torn off when paid, or void. A sheet if undefined. */
  pair?: 'whole' | 'torn' | 'void';
  /** The footer: the merchant's support contact and the details that it publishes. */
  help?: Html;
  /** The merchant's colour as `#rrggbb`; ours if undefined. */
  colour?: string | undefined;
  /** The words of the skip link; the site's own if undefined. */
  skip?: Html;
  wide?: boolean;
  /** Whether the page says what is wrong with a form. */
  wrong?: boolean;
  /** What the address of this very page holds beside what is kept; null if no address shows it again. */
  here?: Readonly<Record<string, string | undefined>> | null;
}

/** A whole page. */
export function framedPage(visit: PageVisit, parts: SitePage): string {
  const { words, theme, basePath, site } = visit;
  const { heading, brand = site.brand, test, amount, content, wide = false, wrong, here, pair, help } = parts;
  const named =
    brand === undefined || heading.includes(brand)
      ? heading
      : words.text('title', { heading, merchant: brand });
  const title = amount === undefined ? named : `${named} – ${amount}`;
  const image = `${site.baseUrl}/${previewPicture.name}`;
  const again = here === null ? undefined : visit.address({ lang: undefined, ...here });
  return htmlPage({
    language: words,
    theme,
    basePath,
    title: wrong ? words.text('error.title', { title }) : title,
    preview: amount === undefined ? undefined : { title: named, description: amount, image },
    skip: parts.skip ?? words.html(site.words.skip),
    header: html`${test && html`<p class="trial-strip">${words.html('test')}</p>`}
<div class="bar">${brand !== undefined && merchantMarkup(brand, parts.logo)}${again && languages(visit, again)}</div>`,
    content,
    wide,
    looks: {
      body: pair === undefined || pair === 'whole' ? 'pay' : `pay ${pair}`,
      main: pair && 'pair',
    },
    colours: parts.colour && nameOfColours(parts.colour),
    footer: html`${help}${again && themes(visit, again)}`,
  });
}

const merchantMarkup = (name: string, logo: string | undefined) => html`<p class="merchant">
${
  logo === undefined
    ? html`<span class="monogram" aria-hidden="true">${initialOf(name)}</span>`
    : html`<img class="logo" src="${logo}" alt="">`
}<bdi>${name}</bdi></p>
`;

/** The first letter or figure of a name, as its sign. */
function initialOf(name: string): string {
  return /[\p{L}\p{N}]\p{M}*/u.exec(name)?.[0].toUpperCase() ?? '·';
}

function languages({ words }: PageVisit, here: string): Html {
  const label = words.html('footer.language');
  return html`<nav aria-label="${label}"><details class="menu">
<summary>${icon('globe')}<span class="vh">${label}: </span>${words.name}</summary>
${languageLinks(LANGUAGES, words.tag, here)}</details></nav>
`;
}

function themes({ words, theme, asked }: PageVisit, here: string): Html {
  const kept = asked.lang === undefined ? '' : `lang=${words.tag}&`;
  return themeSwitch(words.text('footer.theme'), theme, {
    nameOf: (one) => words.text(`theme.${one}`),
    addressOf: (one) => withQuery(here, `${kept}theme=${one}`),
  });
}
