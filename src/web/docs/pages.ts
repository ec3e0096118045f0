// Which pages the documentation has, and which languages its examples are in.
import type { PageVisit } from '../pages/visit.ts';

/** What addresses hold: the words of a search, and the language of examples. */
export type DocsName = 'q' | 'code';
export type DocsVisit = PageVisit<DocsName>;

/** The pages in the order in which they are read. */
export const SLUGS = [
  'quickstart',
  'payments',
  'statuses',
  'checkout',
  'events',
  'webhooks',
  'testing',
  'errors',
  'idempotency',
  'security',
  'going-live',
  'reference',
  'changelog',
] as const;
export type Slug = (typeof SLUGS)[number];

/** The languages of examples by what a document calls them, in the order of their tabs. */
export const LANGUAGE_NAMES: Readonly<Record<string, string>> = {
  sh: 'curl',
  ts: 'TypeScript',
  js: 'Node',
  python: 'Python',
  php: 'PHP',
  go: 'Go',
  ruby: 'Ruby',
};
