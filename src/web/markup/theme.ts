// The visitor's choice of theme, stored in a cookie, and of language: links, so that no script is needed.
import { boundCookie, boundName, valueIn } from '../../lib/cookie.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Language } from '../../lib/locale.ts';
import { type IconName, icon } from './icons.ts';

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const COOKIE_NAME = 'counterfoil_theme';
const YEAR_S = 365 * 24 * 60 * 60;

/** The choice in a Cookie header that came to the site at `baseUrl`. */
export function themeOf(cookies: string | undefined, baseUrl: string): Theme | undefined {
  const chosen = valueIn(cookies, boundName(COOKIE_NAME, baseUrl));
  return THEMES.find((theme) => theme === chosen);
}

/** The cookie that keeps a choice for a year, for the whole host of the site at `baseUrl`; `auto` forgets it. */
export function themeCookie(choice: string, baseUrl: string): string {
  const kept = THEMES.find((theme) => theme === choice);
  return preferenceCookie(COOKIE_NAME, kept, baseUrl);
}

/** A cookie that keeps a choice for a year; undefined forgets it. It counts on links from other sites: payments are opened from mails. */
export function preferenceCookie(name: string, value: string | undefined, baseUrl: string): string {
  return boundCookie(name, value ?? '', baseUrl, value === undefined ? 0 : YEAR_S, 'Lax');
}

/** `address` with `query` behind it. */
export const withQuery = (address: string, query: string): string =>
  `${address}${address.includes('?') ? '&' : '?'}${query}`;

/** The choice of language, each a link from the page at `here`, so that no script is needed. */
export function languageLinks(languages: readonly Language[], chosen: string, here: string): Html {
  const links = languages.map(({ tag, name }) => {
    const current = tag === chosen && html` aria-current="true"`;
    return html`<li><a href="${withQuery(here, `lang=${tag}`)}" lang="${tag}" hreflang="${tag}"${current}>${name}</a></li>`;
  });
  return html`<ul>${links}</ul>`;
}

const ICONS: Record<Theme | 'auto', IconName> = { light: 'sun', dark: 'moon', auto: 'device' };

/** The choice of theme, each a link with a picture, so that no script is needed. */
export function themeSwitch(
  label: string,
  chosen: Theme | undefined,
  { nameOf, addressOf }: Record<'nameOf' | 'addressOf', (one: Theme | 'auto') => string>,
): Html {
  const links = [...THEMES, 'auto' as const].map((one) => {
    const current = one === (chosen ?? 'auto') && html` aria-current="true"`;
    const name = nameOf(one);
    return html`<a href="${addressOf(one)}" aria-label="${name}" title="${name}"${current}>${icon(ICONS[one])}</a>`;
  });
  return html`<nav class="looks" aria-label="${label}">${links}</nav>`;
}
