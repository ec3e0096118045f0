// What pages load besides themselves: read once, named by its content, so that it may be kept for ever.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sha256 } from '../../lib/secrets.ts';

export interface Asset {
  /** Its name below a base path, with a digest in it. */
  name: string;
  type: string;
  content: Buffer;
  /** The same with gzip, where that is smaller. */
  packed?: Buffer | undefined;
}

/** `content` as the asset `name`, such as `icon.svg`. */
function named(name: string, type: string, content: Buffer): Asset {
  const [stem, ending] = name.split(/\.(?=\w+$)/);
  const packed = /^(text|image\/svg)/.test(type) ? gzipSync(content, { level: 9 }) : undefined;
  return { name: `assets/${stem}.${sha256(content).slice(0, 12)}.${ending}`, type, content, packed };
}

/** The asset in `file`. Throws the system's error where it is missing. */
export function asset(file: URL, type: string): Asset {
  return named(basename(file.pathname), type, readFileSync(file));
}

/** A subset of the typeface, Hanken Grotesk, from its package. */
function font(subset: 'latin' | 'latin-ext'): Asset {
  const file = `hanken-grotesk-${subset}-wght-normal.woff2`;
  const url = import.meta.resolve(`@fontsource-variable/hanken-grotesk/files/${file}`);
  return asset(new URL(url), 'font/woff2');
}

const latin = font('latin');
export const icon = asset(new URL('icon.svg', import.meta.url), 'image/svg+xml');
/** The icon of a page that a phone keeps among its apps, and the picture that goes with a link in a message. */
export const touchIcon = asset(new URL('touch-icon.png', import.meta.url), 'image/png');
export const previewPicture = asset(new URL('preview.png', import.meta.url), 'image/png');
const engraving = asset(new URL('engraving.svg', import.meta.url), 'image/svg+xml');
const loadedByStyle: readonly Asset[] = [latin, font('latin-ext'), engraving];

/** The files of `style/` in this order as one sheet, without comments. The addresses in it are those of the assets it loads. */
function sheet(name: string, parts: readonly string[]): Asset {
  const source = parts.map((part) => readFileSync(new URL(`style/${part}.css`, import.meta.url), 'utf8'));
  const css = source
    .join('')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .replace(/url\("(.+?)\.\w+"\)/g, (_, stem: string) => `url("${addressOf(stem)}")`);
  return named(name, 'text/css; charset=utf-8', Buffer.from(css));
}

/** The address of the asset that a sheet calls `stem`, beside the sheet. */
function addressOf(stem: string): string {
  const found = loadedByStyle.find(({ name }) => name.startsWith(`assets/${stem}.`));
  if (!found) throw new Error(`No asset is called ${stem}`);
  return basename(found.name);
}

/** The sheet of the customer's pages, and that of the console. */
export const stylesheet = sheet('style.css', ['tokens', 'elements', 'parts', 'customer', 'customer-print']);
export const consoleStylesheet = sheet('console.css', [
  'tokens',
  'elements',
  'parts',
  'desk',
  'queue',
  'records',
]);
/** The sheet of the developer's documentation. */
export const docsStylesheet = sheet('docs.css', ['tokens', 'elements', 'parts', 'docs']);
/** Loaded before the style asks for it: the subset that every page is set in. */
export const preloaded = latin;
export const assets: readonly Asset[] = [stylesheet, icon, touchIcon, previewPicture, ...loadedByStyle];

export const ASSET_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const;
