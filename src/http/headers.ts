// The headers of every JSON answer: data for servers, never a page, never kept.

export const JSON_TYPE = 'application/json; charset=utf-8';

export const API_HEADERS = {
  'content-type': JSON_TYPE,
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;
