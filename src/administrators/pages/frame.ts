// The frame of the console's pages: navigation, the signed-in administrator, and the choice of the theme.

import { type Html, html } from '../../lib/html.ts';
import type { Language } from '../../lib/locale.ts';
import { consoleStylesheet } from '../../web/markup/assets.ts';
import { htmlPage } from '../../web/markup/page.ts';
import { THEMES, type Theme } from '../../web/markup/theme.ts';
import type { Principal } from '../administrator.ts';
import { script } from './assets.ts';
import { errorSummary, hasFaults } from './parts.ts';
import type { Shown } from './route.ts';

export const LANGUAGE: Language = { tag: 'en', name: 'English', direction: 'ltr' };
const PRODUCT = 'Counterfoil';

const PLACES = [
  ['/', 'Home'],
  ['/queue', 'Queue'],
  ['/payments', 'Payments'],
  ['/statements', 'Statements'],
  ['/audit', 'Audit log'],
  ['/merchants', 'Merchants'],
  ['/health', 'Health'],
] as const;

const THEME_NAMES = { light: 'Light', dark: 'Dark', auto: 'As the system' } as const;

/** What a page is framed with. */
interface Setting {
  /** The console's address, without a slash at its end. */
  path: string;
  /** The address that the choice of light or dark comes back to; none, and no choice, where opening it would lose what is shown. */
  here: string | undefined;
  theme: Theme | undefined;
  nonce: string;
  /** Whether single letters are keys on this page. */
  keys: boolean;
  /** The signed-in administrator, the hidden field of their forms, and how many payments wait for review. */
  signedIn: { principal: Principal; token: Html; waiting: number } | undefined;
}

/** A whole page. */
export function framed(shown: Shown, { path, here, theme, nonce, keys, signedIn }: Setting): string {
  const { title, content, place, wide = false, faults = {} } = shown;
  const waiting = place === '/queue' && signedIn?.waiting ? `(${signedIn.waiting}) ` : '';
  const home = html`<p class="brand"><a href="${path}">${PRODUCT}</a></p>`;
  return htmlPage({
    language: LANGUAGE,
    theme,
    basePath: path,
    title: `${hasFaults(faults) ? 'Error: ' : ''}${waiting}${title} – ${PRODUCT}`,
    skip: html`Skip to the content`,
    header: signedIn ? html`${home}${account(path, place, signedIn)}` : html`<p class="brand">${PRODUCT}</p>`,
    beside: signedIn && html`${navigation(path, place, signedIn.waiting)}\n`,
    content: html`${errorSummary(faults)}${content}`,
    wide,
    footer: html`${here !== undefined && themes(here, theme)}${signedIn && keyHelp(keys, path)}`,
    script: { name: script.name, nonce },
    sheet: consoleStylesheet,
  });
}

function navigation(path: string, place: Shown['place'], waiting: number): Html {
  const entry = ([below, name]: (typeof PLACES)[number]) => {
    const count = below === '/queue' && waiting > 0 && html` <span class="count">(${waiting})</span>`;
    return html`<li><a href="${below === '/' ? path : path + below}"
${below === place && html`aria-current="page"`}>${name}${count}</a></li>`;
  };
  return html`<nav class="places" aria-label="Console"><ul>${PLACES.map(entry)}</ul></nav>`;
}

function account(
  path: string,
  place: Shown['place'],
  { principal, token }: NonNullable<Setting['signedIn']>,
): Html {
  return html`<div class="account">
<a href="${path}/account" aria-label="Your account: ${principal.name}"
${place === '/account' && html`aria-current="page"`}><bdi>${principal.name}</bdi></a>
<form method="post" action="${path}/sign-out">${token}<button class="quiet">Sign out</button></form>
</div>`;
}

function themes(here: string, theme: Theme | undefined): Html {
  const joint = here.includes('?') ? '&' : '?';
  const link = (one: keyof typeof THEME_NAMES) =>
    html`<li><a href="${here}${joint}theme=${one}"${one === (theme ?? 'auto') && html` aria-current="true"`}>${THEME_NAMES[one]}</a></li>`;
  return html`<nav aria-label="Light or dark"><ul>${[...THEMES, 'auto' as const].map(link)}</ul></nav>`;
}

const KEYS = [
  ['j', 'next row'],
  ['k', 'row before'],
  ['o', 'open the row'],
  ['a', 'to the page that approves'],
  ['r', 'to the page that rejects'],
  ['m', 'to the page that records money'],
  ['e', 'claim'],
  ['u', 'import statements'],
  ['d', 'download lines of statements'],
  ['i', 'to the reason for ignoring a statement line'],
  ['/', 'search'],
  ['?', 'this list'],
] as const;

/** The list that `?` opens; shown by the script, which alone makes letters keys. */
function keyHelp(keys: boolean, path: string): Html {
  if (!keys) return html``;
  return html`<details class="keys" data-keys hidden><summary>Keyboard shortcuts</summary>
<dl>${KEYS.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
<p><a href="${path}/account">Switch them off in your account</a></p>
</details>`;
}
