// Light or dark, as somebody chose over what their system says: kept in a cookie, so that it needs no script.
import { isHttps } from '../lib/web-address.ts';

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const COOKIE_NAME = 'counterfoil_theme';
const COOKIE = new RegExp(`(?:^|;\\s*)${COOKIE_NAME}=(\\w+)`);
const YEAR_S = 365 * 24 * 60 * 60;

/** The choice in a Cookie header. */
export function themeOf(cookies: string | undefined): Theme | undefined {
  const chosen = COOKIE.exec(cookies ?? '')?.[1];
  return THEMES.find((theme) => theme === chosen);
}

/** The cookie that keeps a choice for a year, below `path` of the site at `baseUrl`; `auto` forgets it. */
export function themeCookie(choice: string, path: string, baseUrl: string): string {
  const kept = THEMES.find((theme) => theme === choice);
  return preferenceCookie(COOKIE_NAME, kept, path, baseUrl);
}

/** A cookie that keeps a choice for a year; undefined forgets it. It tells nothing that needs guarding. */
export function preferenceCookie(
  name: string,
  value: string | undefined,
  path: string,
  baseUrl: string,
): string {
  const secure = isHttps(baseUrl) ? '; Secure' : '';
  return `${name}=${value ?? ''}; Max-Age=${value ? YEAR_S : 0}; Path=${path || '/'}; HttpOnly; SameSite=Lax${secure}`;
}
