// Our own documents as HTML: Markdown's tokens, written through `html`, so that every text in them is escaped.
import { lexer, type Token, type Tokens } from 'marked';
import { attributes, type Html, html, safeUrl } from '../../lib/html.ts';
import { LANGUAGE_NAMES } from './pages.ts';

/** A heading with what stands below it, up to the next heading. */
export interface Section {
  id: string;
  title: string;
  depth: number;
  /** Without markup. */
  text: string;
}

/** What the page that shows a document knows of its links. */
export interface Links {
  /** Address of a link; undefined where it leads to no page of the site. */
  addressOf(href: string): string | undefined;
  /** The language that examples are shown in, and the address of the same page in another one. */
  chosen: string;
  inLanguage(language: string): string;
}

const CUSTOM_ID = /\s*\{#([\w.-]+)\}$/;

/** The parts of a document: tokens, of which examples of one thing in several languages are one. */
export type Block = Token | { type: 'examples'; each: Tokens.Code[] };

export function documentBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (const token of lexer(markdown)) {
    const last = blocks.at(-1);
    if (token.type === 'space') continue;
    if (!isExample(token)) blocks.push(token);
    else if (last?.type === 'examples') (last.each as Tokens.Code[]).push(token);
    else blocks.push({ type: 'examples', each: [token] });
  }
  return blocks;
}

const isExample = (token: Token): token is Tokens.Code =>
  token.type === 'code' && Object.hasOwn(LANGUAGE_NAMES, token.lang ?? '');

/** The sections of a document. */
export function sectionsOf(blocks: readonly Block[]): Section[] {
  const sections: Section[] = [];
  const anchorOf = anchors();
  for (const block of blocks)
    if (block.type === 'heading') {
      const { depth, text } = block as Tokens.Heading;
      sections.push({ id: anchorOf(text), title: plain(text.replace(CUSTOM_ID, '')), depth, text: '' });
    } else if (sections.length > 0 && 'raw' in block)
      sections.at(-1)!.text +=
        ` ${plain(block.raw.replace(/^\|.*\|\n\|[-| ]+\|$/m, '').replaceAll('|', ' '))}`;
  return sections;
}

/** The text of a document without its markup. */
export const plain = (markdown: string) =>
  markdown
    .replaceAll(/^```\w*$/gm, '')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]|\\(?=\W)/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** The anchors of headings: the one in `{#…}`, or else as GitHub makes it of the words, with a number where it is there already. */
function anchors(): (heading: string) => string {
  const counts = new Map<string, number>();
  return (heading) => {
    const made = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '');
    const id = CUSTOM_ID.exec(heading)?.[1] ?? made.trim().replaceAll(/\s/g, '-');
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

/** A document below its heading of the first level. */
export function documentMarkup(blocks: readonly Block[], links: Links): Html {
  const anchorOf = anchors();
  let within = '';
  let examples = 0;
  const parts = blocks.map((block) => {
    if (block.type === 'heading') {
      const { text } = block as Tokens.Heading;
      within = CUSTOM_ID.exec(text)?.[1] ?? '';
      return headingMarkup(block as Tokens.Heading, anchorOf(text), links);
    }
    if (block.type === 'examples')
      return exampleMarkup(block.each as Tokens.Code[], `example-${++examples}`, links);
    if (block.type === 'table') return tableMarkup(block as Tokens.Table, within, links);
    return blockMarkup(block as Token, links);
  });
  return html`${parts.map((part) => html`${part}\n`)}`;
}

function headingMarkup({ depth, tokens }: Tokens.Heading, id: string, links: Links): Html {
  const words = inline(tokens, links, CUSTOM_ID);
  if (depth === 1) return html`<h1>${words}</h1>`;
  const link = html`<a class="anchor" href="#${id}">${words}</a>`;
  if (depth === 2) return html`<h2 id="${id}">${link}</h2>`;
  return depth === 3 ? html`<h3 id="${id}">${link}</h3>` : html`<h4 id="${id}">${link}</h4>`;
}

function exampleMarkup(each: readonly Tokens.Code[], id: string, { chosen, inLanguage }: Links): Html {
  const shown =
    each.find(({ lang }) => lang === chosen) ?? each.find(({ lang }) => isNear(lang, chosen)) ?? each[0]!;
  const tabs = each.map(({ lang = '' }) => {
    const current = lang === shown.lang && html` aria-current="true"`;
    return html`<li><a href="${inLanguage(lang)}#${id}"${current}>${LANGUAGE_NAMES[lang]}</a></li>`;
  });
  return html`<div class="example" id="${id}">
${each.length > 1 && html`<ul class="tabs" aria-label="Language of the example">${tabs}</ul>`}
<pre><code>${shown.lang === 'sh' ? withOptions(shown.text) : shown.text}</code></pre>
</div>`;
}

/** A command's options, each with the word that follows it if that is short: lines do not break within. */
const OPTION = /((?<=^|\s)--?\w[\w-]*(?: \S{1,18}(?=\s|$))?)/m;

/** The lines of a command. A narrow page breaks them between options, and not behind a hyphen. */
const withOptions = (command: string) =>
  html`${command.split(OPTION).map((part, i) => (i % 2 === 0 ? part : html`<span>${part}</span>`))}`;

/** Whether an example may stand for one in the chosen language. */
const isNear = (lang: string | undefined, chosen: string) => chosen === 'ts' && lang === 'js';

/** A table. Its cells name their columns, since rows become cards on narrow pages. */
function tableMarkup({ header, rows }: Tokens.Table, within: string, links: Links): Html {
  const heads = header.map(({ tokens }) => html`<th scope="col">${inline(tokens, links)}</th>`);
  const body = rows.map((cells) => {
    const field = within && /^`([\w.-]+)`/.exec(cells[0]!.text)?.[1];
    const written = cells.map(({ tokens }, index) => {
      const label = plain(header[index]!.text);
      return html`<td data-label="${label}"><div>${inline(tokens, links)}</div></td>`;
    });
    return html`<tr${attributes({ id: field ? `${within}.${field}` : undefined })}>${written}</tr>\n`;
  });
  return html`<table>
<thead><tr>${heads}</tr></thead>
<tbody>${body}</tbody>
</table>`;
}

function blockMarkup(token: Token, links: Links): Html {
  switch (token.type) {
    case 'paragraph':
      return html`<p>${inline(token.tokens, links)}</p>`;
    case 'text':
      return inline(token.tokens ?? [token], links);
    case 'code':
      if (token.lang === 'states') return stateDiagram();
      return html`<pre${attributes({ class: token.lang === 'json' ? 'answer' : undefined })}><code>${token.text}</code></pre>`;
    case 'list': {
      const { ordered, items } = token as Tokens.List;
      const written = items.map(
        ({ tokens }) => html`<li>${tokens.map((one) => blockMarkup(one, links))}</li>\n`,
      );
      return ordered ? html`<ol>${written}</ol>` : html`<ul>${written}</ul>`;
    }
    case 'space':
      return html``;
    default:
      throw new Error(`A document has what is not written as HTML: ${token.type}`);
  }
}

/** Text with its emphasis, code and links. `without` is left out of it. */
function inline(tokens: readonly Token[] = [], links: Links, without?: RegExp): Html {
  const parts = tokens.map((token) => {
    const within = () => inline(token.type === 'text' ? undefined : (token as Tokens.Strong).tokens, links);
    switch (token.type) {
      case 'text':
      case 'escape':
        return html`${without ? token.text.replace(without, '') : token.text}`;
      case 'codespan':
        return html`<code>${token.text}</code>`;
      case 'strong':
        return html`<strong>${within()}</strong>`;
      case 'em':
        return html`<em>${within()}</em>`;
      case 'br':
        return html`<br>`;
      case 'link':
        return linkMarkup(token as Tokens.Link, within(), links);
      default:
        throw new Error(`A document has what is not written as HTML: ${token.type}`);
    }
  });
  return html`${parts}`;
}

/** A link, or its words alone where what it leads to is not served. */
function linkMarkup({ href }: Tokens.Link, words: Html, links: Links): Html {
  const address = safeUrl(href) ?? links.addressOf(href);
  return address === undefined ? words : html`<a href="${address}">${words}</a>`;
}

const SAID =
  'A payment is created pending. When the customer submits, it is requires_review. A person then makes it approved or rejected. A pending payment is cancelled by you, by the customer or by its end. Money that comes late opens a cancelled payment for review.';

const box = (x: number, y: number, status: string, width = 132) => html`<g class="${status}">
<rect x="${x - width / 2}" y="${y - 18}" width="${width}" height="36" rx="9"/><text x="${x}" y="${y + 5}">${status}</text></g>
`;
const arrow = (path: string) => html`<path d="${path}" marker-end="url(#tip)"/>\n`;
const words = (x: number, y: number, text: string) =>
  html`<text class="move" x="${x}" y="${y}">${text}</text>\n`;

function stateDiagram(): Html {
  return html`<svg class="states" viewBox="0 0 400 330" role="img" aria-label="${SAID}">
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0 0 8 4 0 8z"/></marker></defs>
${arrow('M110 54V136')}${words(118, 82, 'the customer')}${words(118, 99, 'submits')}
${arrow('M178 32H280')}${words(184, 22, 'cancel, expire')}
${arrow('M338 54V156H190')}${words(246, 122, 'money comes')}${words(246, 139, 'all the same')}
${arrow('M88 136V54')}${words(10, 90, 'taken back')}
${arrow('M96 178 78 264')}${words(14, 222, 'approve')}
${arrow('M130 178 226 264')}${words(196, 222, 'reject')}
${box(110, 32, 'pending')}${box(338, 32, 'cancelled', 110)}
${box(110, 157, 'requires_review', 152)}${box(76, 286, 'approved')}${box(236, 286, 'rejected')}</svg>`;
}
