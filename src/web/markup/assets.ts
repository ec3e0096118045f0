// What pages load besides themselves: read once, named by its content, so that it may be kept for ever.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { sha256 } from '../../lib/secrets.ts';

export interface Asset {
  /** Its name below a base path, with a digest in it. */
  name: string;
  type: string;
  content: Buffer;
}

/** The asset in `file`. Throws the system's error where it is missing. */
export function asset(file: URL, type: string): Asset {
  const content = readFileSync(file);
  const [stem, ending] = basename(file.pathname).split(/\.(?=\w+$)/);
  return { name: `assets/${stem}.${sha256(content).slice(0, 12)}.${ending}`, type, content };
}

export const stylesheet = asset(new URL('style.css', import.meta.url), 'text/css; charset=utf-8');
export const icon = asset(new URL('icon.svg', import.meta.url), 'image/svg+xml');
export const assets: readonly Asset[] = [stylesheet, icon];

export const ASSET_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const;
