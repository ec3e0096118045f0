// The frame of the console's pages: the rail with its places, the account, and how one stays signed in.

import { Readable } from 'node:stream';
import { type Html, html } from '../../lib/html.ts';
import { phrase, type Say } from '../../lib/phrases.ts';
import { SECOND_MS } from '../../lib/time.ts';
import { asset, assets, consoleStylesheet } from '../../web/markup/assets.ts';
import { type IconName, icon } from '../../web/markup/icons.ts';
import { LANGUAGES } from '../../web/markup/languages.ts';
import { htmlPage } from '../../web/markup/page.ts';
import { languageLinks, themeSwitch, withQuery } from '../../web/markup/theme.ts';
import type { Principal } from '../administrator.ts';
import type { SessionEnd } from '../session.ts';
import { errorSummary, hasFaults, moment } from './parts.ts';
import type { Context, Outcome, Shown, Visit } from './route.ts';
import { phrasebook } from './tongue.ts';

const PRODUCT = 'Counterfoil';

const PLACES: readonly [path: string, name: string, picture: IconName][] = [
  ['/', phrase('Home'), 'home'],
  ['/queue', phrase('To review'), 'inbox'],
  ['/payments', phrase('Payments'), 'receipt'],
  ['/statements', phrase('Statements'), 'bank'],
  ['/merchants', phrase('Merchants'), 'shop'],
  ['/audit', phrase('History'), 'shield'],
  ['/health', phrase('Health'), 'pulse'],
];

const THEME_NAMES = {
  light: phrase('Light'),
  dark: phrase('Dark'),
  auto: phrase('Same as your device'),
} as const;

/** A whole page. `waiting`: how many payments wait for review. */
export function framed(visit: Visit, shown: Shown, waiting: number): string {
  const { path, theme, nonce, language, say, principal, ends } = visit;
  const { title, content, place, layout = 'page', isOpen = false, skip, faults = {} } = shown;
  const count = place === '/queue' && waiting > 0 ? ` (${waiting})` : '';
  const error = hasFaults(faults) ? `${say`Error:`} ` : '';
  return htmlPage({
    language,
    theme,
    basePath: path,
    title: `${error}${title}${count} – ${PRODUCT}`,
    skips: skip && html`<a class="skip" href="#${skip.to}">${skip.text}</a>\n`,
    skip: html`${say`Skip to the content`}`,
    header: principal ? undefined : html`<p class="mark">${productMark}${PRODUCT}</p>`,
    looks: {
      body: principal ? 'desk' : 'desk outside',
      main: `${layout}${isOpen ? ' is-open' : ''}`,
    },
    beside: principal && rail(visit, place, waiting),
    content: html`${errorSummary(faults, say)}${content}`,
    footer: html`${principal && account(visit, place, principal)}${choices(visit)}${
      principal && html`${keyHelp(visit)}${ends && ending(visit, ends)}`
    }`,
    script: { name: script.name, nonce },
    sheet: consoleStylesheet,
  });
}

function rail({ path, say }: Visit, place: Shown['place'], waiting: number): Html {
  const entry = ([below, name, picture]: (typeof PLACES)[number]) => {
    const count = below === '/queue' && waiting > 0 && html` <span class="n">${waiting}</span>`;
    const current = below === place && html` aria-current="page"`;
    return html`<li><a href="${below === '/' ? path : path + below}"${current}>${icon(picture)}${say.of(name)}${count}</a></li>`;
  };
  return html`<nav class="rail" aria-label="${say`Console`}">
<a class="mark" href="${path}" aria-hidden="true" tabindex="-1">${productMark}${PRODUCT}</a>
<ul>${PLACES.map(entry)}</ul>
</nav>
`;
}

/**
 * Says that the session is about to end. The sheet shows it after a time that suits any session, and the script at the right time: so it
 * says it where scripts are off, too.
 */
function ending({ path, say, now }: Visit, { at, isFinal }: SessionEnd): Html {
  if (isFinal)
    return html`<p class="ending is-final">${say`You will be signed out soon, because you signed in hours ago. Send what
you have typed.`}</p>\n`;
  const left = Math.floor((at - now) / SECOND_MS) - WARNING_S;
  return html`<div class="ending" role="status" data-left="${left}" data-session="${path}/session">
<p>${say`You will be signed out in about two minutes, because this page was not used.`}</p>
<a class="primary" href="${path}/session" target="_blank" rel="noopener">${say`Stay signed in`}</a>
</div>
`;
}

function account({ path, say, keys, token }: Visit, place: Shown['place'], { name, role }: Principal): Html {
  const current = place === '/account' && html` aria-current="page"`;
  const initials = name
    .split(/\s+/)
    .map((word) => [...word][0])
    .slice(0, 2)
    .join('');
  return html`<div class="me"><span class="monogram" aria-hidden="true">${initials}</span>
<p><a href="${path}/account" aria-label="${say`Your account: ${name}`}"${current}><bdi>${name}</bdi></a>
<span class="muted">${say.of(role)}</span></p>
<form method="post" action="${path}/sign-out">${token}<button class="quiet">${say`Sign out`}</button></form></div>
<p class="more"><a href="${path}/help">${say`Help`}</a>${
    keys &&
    html`
<button class="quiet" popovertarget="keys" data-with-script hidden>${say`Keys`} <kbd aria-hidden="true">?</kbd></button>`
  }</p>
`;
}

/** The choice of theme and language, each a link, so that no script is needed. */
function choices({ here, theme, say }: Visit): Html | null {
  if (here === undefined) return null;
  const languages = LANGUAGES.filter(({ tag }) => phrasebook.tags.includes(tag));
  return html`<div class="choices">${themeSwitch(say`Light or dark`, theme, {
    nameOf: (one) => say.of(THEME_NAMES[one]),
    addressOf: (one) => withQuery(here, `theme=${one}`),
  })}<nav aria-label="${say`Language`}">${languageLinks(languages, say.tag, here)}</nav></div>`;
}

const KEYS = [
  ['j', phrase('next row')],
  ['k', phrase('previous row')],
  ['o', phrase('open the row')],
  ['n', phrase('open the next payment')],
  ['p', phrase('open the previous payment')],
  ['a', phrase('approve: opens the page that asks')],
  ['r', phrase('reject: opens the page that asks')],
  ['m', phrase('record money')],
  ['e', phrase('claim')],
  ['u', phrase('import statements')],
  ['d', phrase('download statement lines')],
  ['i', phrase('reason for ignoring a statement line')],
  ['x', phrase('tick the line')],
  ['/', phrase('search')],
  ['?', phrase('this list')],
] as const;

/** The list that `?` opens; the script alone makes letters keys. */
export function keyboardList(say: Say): Html {
  return html`<dl class="key-list">${KEYS.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${say.of(what)}</dd></div>`)}</dl>`;
}

function keyHelp({ keys, path, say }: Visit): Html | null {
  if (!keys) return null;
  return html`<section id="keys" class="keys" popover data-keys aria-labelledby="keyboard-heading">
<h2 id="keyboard-heading" tabindex="-1">${say`Keyboard shortcuts`}</h2>
${keyboardList(say)}
<p><a href="${path}/account">${say`Switch them off in your account`}</a></p>
</section>
`;
}

const ground = html`<path class="mark-ground" d="M8 0h16a8 8 0 0 1 8 8v16a8 8 0 0 1-8 8H8a8 8 0 0 1-8-8V8a8 8 0 0 1 8-8z"/>`;
const slip = html`<path class="mark-slip" d="M9 6h14v20l-2.3-2-2.4 2-2.3-2-2.3 2-2.4-2L9 26z"/>
<path class="mark-text" d="M12.5 11h7m-7 4h7"/>`;
const productMark: Html = html`<svg viewBox="0 0 32 32" aria-hidden="true">${ground}${slip}</svg>`;

export const script = asset(new URL('console.js', import.meta.url), 'text/javascript; charset=utf-8');
export const consoleAssets = [...assets, consoleStylesheet, script];

export function stayPage(context: Context): Outcome {
  const { say, ends } = context;
  return {
    title: say`You stay signed in`,
    content: html`<h1>${say`You stay signed in`}</h1>
<p>${say.html`Your session ends at ${moment(context, ends.at)} if you do not use it until then.`}</p>
<p>${say`Close this tab and go on where you were.`}</p>`,
  };
}

/** In how many seconds a page should warn that the session ends. */
export function secondsLeft({ ends, now }: Context): Outcome {
  const seconds = Math.max(0, Math.floor((ends.unused - now) / SECOND_MS) - WARNING_S);
  return { stream: Readable.from([String(seconds)]), type: 'text/plain; charset=utf-8', name: 'left.txt' };
}

/** How long before its session ends a page warns (WCAG 2.2.1 asks for 20 seconds). */
const WARNING_S = 120;
