// The frame of every page, and the headers it is sent with: no script, no stranger, no copy kept.
import { type Html, html } from '../lib/html.ts';
import type { Language } from '../lib/locale.ts';
import { isHttps, pathOf } from '../lib/web-address.ts';
import { icon, stylesheet } from './assets.ts';

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "script-src 'none'",
  "connect-src 'none'",
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

/** The headers of pages below `baseUrl`, which comes without a slash at its end. */
export function pageHeaders(baseUrl: string): Record<string, string> {
  const https = isHttps(baseUrl);
  const policy = [
    ...POLICY,
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

/** The customer's own choice of light or dark, over their system's. */
export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export interface PageParts {
  language: Language;
  theme: Theme | undefined;
  /** Where assets lie below, without a slash at its end. */
  basePath: string;
  title: string;
  /** What the link past the header says. */
  skip: Html;
  header: Html | undefined;
  /** Everything within `main`. */
  content: Html;
  /** Whether `main` has two columns where there is room. */
  wide?: boolean;
  footer: Html;
}

/** A whole page. */
export function page(parts: PageParts): string {
  const { language, theme, basePath, title, skip, header, content, wide, footer } = parts;
  return html`<!doctype html>
<html lang="${language.tag}" dir="${language.direction}"${theme && html` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme ?? 'light dark'}">
<title>${title}</title>
<link rel="icon" href="${basePath}/${icon.name}" type="image/svg+xml">
<link rel="stylesheet" href="${basePath}/${stylesheet.name}">
</head>
<body>
<a class="skip" href="#main">${skip}</a>
${header && html`<header>${header}</header>`}
<main id="main" class="sheet${wide && ' wide'}" tabindex="-1">
${content}
</main>
<footer>
${footer}
</footer>
</body>
</html>
`.toString();
}
