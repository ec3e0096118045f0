// A page of checkout or of registration: whose it is above, what it is about, and below it the language and the light to choose.
import { type Html, html, slotted } from '../lib/html.ts';
import { LANGUAGES, type Words } from './languages.ts';
import { page } from './page.ts';
import { THEMES, type Theme } from './theme.ts';

/** How a page is shown. */
export interface Look {
  words: Words;
  theme: Theme | undefined;
  /** Whether the address names the language. */
  isNamed: boolean;
  /** Where assets lie below, without a slash at its end. */
  basePath: string;
}

export interface Framed {
  /** The page's heading as text, for its title. */
  heading: string;
  /** Who asks for it, at the top. */
  brand?: string | undefined;
  test?: boolean;
  content: Html;
  wide?: boolean;
  /** Whether the page tells what is wrong with a form. */
  wrong?: boolean;
  /** What the link past the header says. */
  skip?: Html;
  /** The address of this very page, in no language that is named; nothing for one that no address shows again. */
  here: string | null;
}

/** A whole page. */
export function framed(look: Look, parts: Framed): string {
  const { heading, brand, test, content, wide, wrong, skip, here } = parts;
  const { words, theme, basePath } = look;
  const named =
    brand === undefined || heading.includes(brand)
      ? heading
      : words.text('title', { heading, merchant: brand });
  return page({
    language: words,
    theme,
    basePath,
    title: wrong ? words.text('error.title', { title: named }) : named,
    skip: skip ?? words.html('skip'),
    header: html`${brand !== undefined && html`<p class="brand"><bdi>${brand}</bdi></p>`}${test && html`<p class="ribbon">${words.html('test')}</p>`}`,
    content,
    wide: wide ?? false,
    footer: here === null ? html`` : preferences(look, here),
  });
}

/** The language and the light, each a link, so that they need no script. */
function preferences({ words, theme, isNamed }: Look, here: string): Html {
  const name = `preferences ${theme} ${isNamed} ${here.includes('?')}`;
  return words.remembered(name, () => slotted((slot) => choices(words, theme, isNamed, slot, here)))(here);
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
