// The documents of docs/integrate/ as one book: read once, with the addresses and the key of this installation, and searched.
import { readFileSync } from 'node:fs';
import type { Token } from 'marked';
import { type Html, html } from '../../lib/html.ts';
import {
  type Block,
  documentBlocks,
  documentMarkup,
  type Links,
  plain,
  type Section,
  sectionsOf,
} from './markdown.ts';
import { SLUGS, type Slug } from './pages.ts';
import { type ApiDocument, referenceText } from './reference.ts';

const ROOT = new URL('../../../', import.meta.url);
const FOUND_MAXIMUM = 20;
const WORDS_MAXIMUM = 8;
/** Characters of an excerpt in front of the word that was found, and behind it. */
const AROUND = [60, 120] as const;

/** What the documents say of the installation that serves them. */
export interface Served {
  baseUrl: string;
  checkoutBaseUrl: string;
  consoleUrl: string;
  /** A test key that works; a placeholder if there is none that may be shown. */
  key: string;
  /** Makes the OpenAPI document. */
  describe(): object;
}

export interface Page {
  slug: Slug;
  title: string;
  /** The first paragraph, without markup. */
  lead: string;
  text: string;
  sections: readonly Section[];
  /** The page as HTML, with links and examples as `links` has them. */
  markup(links: Links): Html;
}

interface Found {
  page: Page;
  section: Section;
  excerpt: Html;
}

/** Reads all pages. Throws the system's error where one is missing. */
export function readBook(installation: Served): Page[] {
  return SLUGS.map((slug) => {
    const text = withoutDeadLinks(textOf(slug, installation));
    const blocks: Block[] = documentBlocks(text);
    const sections = sectionsOf(blocks);
    const [first] = sections;
    const paragraph = blocks.find(({ type }) => type === 'paragraph');
    const lead = plain((paragraph as Token).raw);
    return {
      slug,
      title: first!.title,
      lead,
      text,
      sections,
      markup: (links) => documentMarkup(blocks, links),
    };
  });
}

/** Markdown in which a document that is not served is its words, and where it lies in the program's folder. */
const withoutDeadLinks = (text: string): string =>
  text.replaceAll(
    /\[((?:[^[\]]|\[[^[\]]*\])*)\]\(\.\.\/(\.\.\/)?([^)#]+)[^)]*\)/g,
    (_, words, above, path) => `${words} (\`${above ? '' : 'docs/'}${path}\`)`,
  );

function textOf(slug: Slug, installation: Served): string {
  if (slug === 'reference') return referenceText(installation.describe() as ApiDocument);
  const file = slug === 'changelog' ? 'CHANGELOG.md' : `docs/integrate/${slug}.md`;
  const text = readFileSync(new URL(file, ROOT), 'utf8');
  return slug === 'changelog' ? fromRoot(text) : placed(text, installation);
}

/** The changelog as a page beside the others: a document that is not served is named where a link stands in brackets. */
function fromRoot(text: string): string {
  return text
    .replaceAll(/^## \[(.+?)\]/gm, '## $1')
    .replaceAll('](docs/integrate/', '](')
    .replaceAll(/\(\[([^\]]+)\]\(([\w-]+\/[^)#]+)[^)]*\)\)/g, '($1: `$2`)')
    .replaceAll('](docs/', '](../')
    .replaceAll('](packages/', '](../../packages/');
}

/** A document with the addresses and the key of this installation in the place of those of the clone. */
function placed(text: string, { baseUrl, checkoutBaseUrl, consoleUrl, key }: Served): string {
  const local = checkoutBaseUrl.replace('//127.0.0.1', '//localhost');
  return text
    .replaceAll('http://127.0.0.1:8080/payment.php', `${checkoutBaseUrl}/payment.php`)
    .replaceAll('http://localhost:8080/dev/', `${local}/dev/`)
    .replaceAll('http://127.0.0.1:8080/console', consoleUrl)
    .replaceAll('http://127.0.0.1:8080', baseUrl)
    .replaceAll('cfk_test_development_key_replace_before_production', key);
}

/** The sections that have each of the words or what they are made of, those that are about them first. */
export function search(pages: readonly Page[], asked: string): Found[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MAXIMUM).map(stemOf);
  if (words.length === 0) return [];
  const found = pages.flatMap((page) =>
    page.sections.flatMap((section) => {
      const title = `${page.title} ${section.title}`.toLowerCase();
      const text = section.text.toLowerCase();
      if (!words.every((word) => title.includes(word) || text.includes(word))) return [];
      const about = words.map((word) => aboutness(word, page, section));
      const rank = about.reduce((sum, one) => sum + one, isListing(page) ? -8 : 0);
      return [{ page, section, rank, excerpt: excerptOf(section.text, words) }];
    }),
  );
  return found.sort((one, other) => other.rank - one.rank).slice(0, FOUND_MAXIMUM);
}

/** A word without the ending of a plural or a form: `retries`, `retry` and `retried` are all `retr`. */
const stemOf = (word: string) => word.replace(/(?<=[a-z]{4})(?:ies|ied|y|es?|s|ed|ing)$/, '');

/** How much a section is about words with `stem`: its title says most, then its page's, then how often and how densely it has them. */
function aboutness(stem: string, page: Page, section: Section): number {
  const count = (text: string) =>
    [...text.toLowerCase().matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(stem)}`, 'gu'))].length;
  const often = count(section.text);
  const density = (often * 200) / (section.text.length / 6 + 40);
  const titles = Math.min(1, count(section.title)) * 10 + Math.min(1, count(page.title)) * 4;
  return titles + Math.min(4, often) + Math.min(4, density);
}

/** Pages that have every word somewhere: the others tell more of it. */
const isListing = ({ slug }: Page) => slug === 'changelog' || slug === 'reference';

/** The text around the first of the words, with the whole of it marked. */
function excerptOf(text: string, words: readonly string[]): Html {
  const lower = text.toLowerCase();
  const [at, word] = words.map((one) => [lower.indexOf(one), one] as const).find(([where]) => where >= 0) ?? [
    0,
    '',
  ];
  const from = Math.max(0, at - AROUND[0]);
  const to = at + word.length + /^\p{L}*/u.exec(text.slice(at + word.length))![0].length;
  const end = to + AROUND[1];
  const rest = text.slice(to, end);
  const behind = html`${end < text.length ? rest.replace(/\s\S*$/, ' …') : rest}`;
  return html`${from > 0 && '… '}${text.slice(from, at)}<mark>${text.slice(at, to)}</mark>${behind}`;
}

/** The index for programs that read documents (llmstxt.org). `address`: of the pages, without a slash at its end. */
export function llmsText(pages: readonly Page[], address: string, baseUrl: string): string {
  const line = ({ slug, title, lead }: Page) => `- [${title}](${address}/${slug}.md): ${lead}`;
  const main = pages.filter(({ slug }) => slug !== 'changelog');
  const rest = pages.filter(({ slug }) => slug === 'changelog');
  return `# Counterfoil

> Self-hosted payment requests: your server creates a payment, the customer pays on a hosted page, a person decides,
> and signed webhooks tell you.

The API is JSON over HTTP at ${baseUrl}/v1, with a bearer key. Examples are in curl, TypeScript (\`@counterfoil/client\`), Python and PHP.

## Docs

${main.map(line).join('\n')}
- [OpenAPI document](${baseUrl}/openapi.json): every endpoint, field and error, for programs.

## Optional

${rest.map(line).join('\n')}
`;
}
