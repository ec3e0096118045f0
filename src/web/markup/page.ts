// The frame of every page, and the headers it is sent with: no script but one of ours that is named, no stranger, no copy kept.
import { type Html, html } from '../../lib/html.ts';
import type { Language } from '../../lib/locale.ts';
import { isHttps, pathOf } from '../../lib/web-address.ts';
import { type Asset, icon, preloaded, stylesheet, touchIcon } from './assets.ts';
import { spriteOf } from './icons.ts';
import { THEMES, type Theme } from './theme.ts';

/** The content security policy, with what stands for the one script that may run. */
const policyFor = (script: string, connect: string) => [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  `script-src ${script}`,
  `connect-src ${connect}`,
  "object-src 'none'",
  "frame-src 'none'",
  "worker-src 'none'",
  "manifest-src 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/** Where browsers report what the policy stopped, below a base URL. */
export const POLICY_REPORTS = 'csp-report';

/**
 * The headers of pages below `baseUrl`, which comes without a slash at its end. With a `nonce` (new for each answer) the script
 * that has it runs, and no other; it may ask this server alone.
 */
export function pageHeaders(baseUrl: string, nonce?: string): Record<string, string> {
  const https = isHttps(baseUrl);
  const policy = [
    ...(nonce === undefined
      ? policyFor("'none'", "'none'")
      : policyFor(`'nonce-${nonce}' 'strict-dynamic'`, "'self'")),
    ...(https ? ['upgrade-insecure-requests'] : []),
    `report-uri ${pathOf(baseUrl)}/${POLICY_REPORTS}`,
    'report-to csp',
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policy.join('; '),
    'reporting-endpoints': `csp="${baseUrl}/${POLICY_REPORTS}"`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'permissions-policy':
      'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'origin-agent-cluster': '?1',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex, nofollow',
  };
}

interface PageParts {
  language: Language;
  theme: Theme | undefined;
  /** Where assets lie below, without a slash at its end. */
  basePath: string;
  title: string;
  /** What a preview of a link to the page shows (the Open Graph protocol); none if undefined. */
  preview?: { title: string; description: string; image: string } | undefined;
  /** What the link past the header says. */
  skip: Html;
  /** Further links like it, in front of it. */
  skips?: Html | undefined;
  header: Html | undefined;
  /** Everything within `main`. */
  content: Html;
  /** Whether `main` has two columns on wide screens. */
  wide?: boolean;
  footer: Html;
  /** What stands beside `main`: the console's navigation, and what comes before it. */
  beside?: Html | undefined;
  /** The classes of the body and of `main` where they are not a sheet of paper on the canvas. */
  looks?: { body: string; main?: string | undefined } | undefined;
  /** A module below `basePath`, and the nonce of this answer. */
  script?: { name: string; nonce: string } | undefined;
  /** The page's sheet; that of the customer's pages if undefined. */
  sheet?: Asset;
  /** The name of a second sheet below `basePath`, which sets the merchant's colour. */
  colours?: string | undefined;
}

/** The colour of the browser's own bars: `--canvas` of the sheet. */
const CANVAS: Record<Theme, string> = { light: '#f4f3ef', dark: '#121317' };

/** A whole page. */
export function htmlPage(parts: PageParts): string {
  const { language, skip, skips, header, content, wide, footer, beside, looks } = parts;
  const written = html`${header && html`<header>${header}</header>`}
${beside}<main id="main" class="${looks?.main ?? `sheet${wide ? ' wide' : ''}`}" tabindex="-1">
${content}
</main>
<footer>
${footer}
</footer>`;
  return html`<!doctype html>
<html lang="${language.tag}" dir="${language.direction}"${parts.theme && html` data-theme="${parts.theme}"`}>
${headOf(parts)}
<body${looks && html` class="${looks.body}"`}>
${skips}<a class="skip" href="#main">${skip}</a>
${spriteOf(written.toString())}${written}
</body>
</html>
`.toString();
}

function headOf({ theme, basePath, title, preview, script, sheet = stylesheet, colours }: PageParts): Html {
  const bars = THEMES.filter((one) => one === (theme ?? one)).map((one) => {
    const media = theme === undefined && html` media="(prefers-color-scheme: ${one})"`;
    return html`<meta name="theme-color"${media} content="${CANVAS[one]}">\n`;
  });
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme ?? 'light dark'}">
${bars}<title>${title}</title>
${
  preview &&
  html`<meta property="og:type" content="website">
<meta property="og:title" content="${preview.title}">
<meta property="og:description" content="${preview.description}">
<meta property="og:image" content="${preview.image}">
`
}<link rel="icon" href="${basePath}/${icon.name}" type="image/svg+xml">
<link rel="apple-touch-icon" href="${basePath}/${touchIcon.name}">
<link rel="stylesheet" href="${basePath}/${sheet.name}">
${colours && html`<link rel="stylesheet" href="${basePath}/${colours}">`}
<link rel="preload" href="${basePath}/${preloaded.name}" as="font" type="${preloaded.type}" crossorigin>${
    script &&
    html`
<script type="module" nonce="${script.nonce}" src="${basePath}/${script.name}"></script>`
  }
</head>`;
}
