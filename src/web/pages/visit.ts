// One request for a page in the visitor's language: what its address asks for, its theme, and the addresses of the same page.
import type { FastifyRequest } from 'fastify';
import { pathOf } from '../../lib/web-address.ts';
import type { Key, Languages, Words } from '../markup/languages.ts';
import { type Theme, themeOf } from '../markup/theme.ts';
import type { AnyVisit } from './surface.ts';

type Named<Name extends string> = Name | 'lang' | 'theme';
type Parameters<Name extends string = never> = Partial<Record<Named<Name>, string | undefined>>;

interface Parameter {
  /** Whether the addresses of the same page hold it, too. */
  isKept?: true;
  /** A value that it refuses counts as none. */
  accepts?(value: string): boolean;
}

/** Where the pages of a surface lie, and how they look. */
export interface PageSite<Name extends string = never> {
  languages: Languages;
  /** Pages and assets lie below. Without a slash at its end. */
  baseUrl: string;
  /** What the addresses of its pages may hold, in this order. */
  parameters: Readonly<Record<Named<Name>, Parameter>>;
  /** The name at the top of every page; undefined where each page says it. */
  brand?: string;
  words: {
    skip: Key;
    /** What became of a form that was refused, and of a request that failed. */
    refused: Key;
    failed: Key;
    /** The link to the page itself. */
    back: Key;
  };
  /** How that link looks behind a failure. */
  backAfterFailure: 'primary' | 'secondary';
}

export interface PageVisit<Name extends string = never> extends AnyVisit {
  site: PageSite;
  /** The path of the base URL: assets lie below. */
  basePath: string;
  words: Words;
  theme: Theme | undefined;
  /** The parameters as they came, each once; a repeated one counts as none. */
  asked: Parameters<Name>;
  /** The address of the same page in the same language, with `change` made to its parameters. */
  address(change?: Parameters<Name>): string;
}

/** `below`: the path of the page below the site's base URL; `/` for the base URL itself. */
export function pageVisitOf<Name extends string>(
  request: FastifyRequest,
  site: PageSite<Name>,
  below: string,
): PageVisit<Name> {
  const query = request.query as Record<string, unknown>;
  const parameters = Object.entries(site.parameters) as [Named<Name>, Parameter][];
  const asked: Parameters<Name> = {};
  for (const [name, { accepts }] of parameters) {
    const value = query[name];
    if (typeof value === 'string' && (accepts?.(value) ?? true)) asked[name] = value;
  }
  const words = site.languages.choose(asked.lang, request.headers['accept-language']);
  const theme = themeOf(request.headers.cookie, site.baseUrl);
  const kept: Parameters<Name> = {};
  for (const [name, { isKept }] of parameters) if (isKept) kept[name] = asked[name];
  if (kept.lang !== undefined) kept.lang = words.tag;
  const basePath = pathOf(site.baseUrl);
  const address = (change: Parameters<Name> = {}) => {
    let written = below === '/' && basePath !== '' ? basePath : basePath + below;
    let joint = '?';
    for (const [name] of parameters) {
      const value = name in change ? change[name] : kept[name];
      if (value === undefined) continue;
      written += `${joint}${name}=${encodeURIComponent(value)}`;
      joint = '&';
    }
    return written;
  };
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  return { request, form, site: site as unknown as PageSite, basePath, words, theme, asked, address };
}
