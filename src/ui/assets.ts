// What pages load besides themselves: read once, named by its content, so that it may be kept for ever.
import { readFileSync } from 'node:fs';
import { sha256 } from '../lib/secrets.ts';

export interface Asset {
  /** Its name below a base path, with a digest in it. */
  name: string;
  type: string;
  content: Buffer;
}

function asset(file: string, type: string): Asset {
  const content = readFileSync(new URL(file, import.meta.url));
  const [stem, ending] = file.split(/\.(?=\w+$)/);
  return { name: `assets/${stem}.${sha256(content).slice(0, 12)}.${ending}`, type, content };
}

export const stylesheet = asset('style.css', 'text/css; charset=utf-8');
export const icon = asset('icon.svg', 'image/svg+xml');
export const assets: readonly Asset[] = [stylesheet, icon];

export const ASSET_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const;
