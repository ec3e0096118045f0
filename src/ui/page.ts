// The frame of every page, and the headers it is sent with: no script, no stranger, no copy kept.
import { type Html, html } from '../lib/html.ts';
import { stylesheet } from './assets.ts';

export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; script-src 'none'; connect-src 'none'; object-src 'none'; frame-src 'none'; worker-src 'none'; manifest-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'permissions-policy':
    'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
} as const;

/** A whole page. `basePath` is where assets lie below, without a slash at its end. */
export function page(options: { title: string; basePath: string; content: Html }): string {
  const { title, basePath, content } = options;
  return html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${basePath}/${stylesheet.name}">
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`.toString();
}
