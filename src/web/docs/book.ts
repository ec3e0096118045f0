// The documents of docs/integrate/ as one book: read once, with the addresses and the key of this installation, and searched.
import { readFileSync } from 'node:fs';
import { type Html, html } from '../../lib/html.ts';
import {
  type Block,
  documentBlocks,
  documentMarkup,
  type Links,
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
  /** The page as Markdown. */
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
    const text = textOf(slug, installation);
    const blocks: Block[] = documentBlocks(text);
    const sections = sectionsOf(blocks);
    const [first] = sections;
    const paragraph = blocks.find(({ type }) => type === 'paragraph');
    const lead = sectionsOf([{ ...(blocks[0] as object) } as Block, paragraph!])[0]!.text.trim();
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

function textOf(slug: Slug, installation: Served): string {
  if (slug === 'reference') return referenceText(installation.describe() as ApiDocument);
  const file = slug === 'changelog' ? 'CHANGELOG.md' : `docs/integrate/${slug}.md`;
  const text = readFileSync(new URL(file, ROOT), 'utf8');
  return slug === 'changelog' ? text.replaceAll('](docs/', '](../') : placed(text, installation);
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

/** The sections that have each of the words, those with a word in their title first. */
export function search(pages: readonly Page[], asked: string): Found[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MAXIMUM);
  if (words.length === 0) return [];
  const found = pages.flatMap((page) =>
    page.sections.flatMap((section) => {
      const title = `${page.title} ${section.title}`.toLowerCase();
      const text = section.text.toLowerCase();
      if (!words.every((word) => title.includes(word) || text.includes(word))) return [];
      const inTitle = words.filter((word) => section.title.toLowerCase().includes(word)).length;
      const rank = inTitle * 10 + (isListing(page) ? -6 : 0) + Math.min(4, text.split(words[0]!).length - 1);
      return [{ page, section, rank, excerpt: excerptOf(section.text, words) }];
    }),
  );
  return found.sort((one, other) => other.rank - one.rank).slice(0, FOUND_MAXIMUM);
}

/** Pages that have every word somewhere: the others tell more of it. */
const isListing = ({ slug }: Page) => slug === 'changelog' || slug === 'reference';

/** The text around the first of the words, with that word marked. */
function excerptOf(text: string, words: readonly string[]): Html {
  const lower = text.toLowerCase();
  const [at, word] = words.map((one) => [lower.indexOf(one), one] as const).find(([where]) => where >= 0) ?? [
    0,
    '',
  ];
  const from = Math.max(0, at - AROUND[0]);
  const to = at + word.length;
  const end = to + AROUND[1];
  const behind = html`${text.slice(to, end)}${end < text.length && ' …'}`;
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
