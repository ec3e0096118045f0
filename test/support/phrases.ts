// The texts of the console as they stand in the source: what a language's file must translate.
import { globSync, readFileSync } from 'node:fs';
import { type DefaultTreeAdapterMap, defaultTreeAdapter, parse } from 'parse5';
import { CSV_CHOICES, CSV_ROLES, CSV_STATUSES } from '#bank-statements';
import { NUMBERED } from '../../src/lib/faults.ts';
import { MATRIX } from '../../src/statements/matching/matrix.ts';

type Element = DefaultTreeAdapterMap['element'];

const SOURCE = new URL('../../src/', import.meta.url);
const CONSTANT = /\bphrase\(\s*'((?:[^'\\]|\\.)*)',?\s*\)/g;
const COUNTED = /\.count\(\s*[^'"`]+?,\s*'((?:[^'\\]|\\.)*)',\s*'((?:[^'\\]|\\.)*)',?\s*\)/g;
const plain = (literal: string) => literal.replace(/\\(.)/g, '$1');

/** Texts of tables that programs read too: the matrix of bank lines, and what CSV files are read by. */
const TABLES: readonly string[] = [
  ...MATRIX.flatMap(({ says, act }) => [says, act]),
  ...[CSV_ROLES, CSV_STATUSES, ...Object.values(CSV_CHOICES)].flatMap((words) =>
    Object.values<string>(words),
  ),
  NUMBERED,
  'Others changed the same at the same moment. Try again.', // on the way of each create, which marks no text
  ...['first', 'last', 'largest'], // lines of a CSV file's preview
  ...['pending', 'approved', 'rejected', 'cancelled', 'matched', 'ignored', 'split'], // in sentences about a payment or a line
];

/** Every text, each once: those of tables, templates of `say` with `{0}` for their values, `phrase`, and the forms of `say.count`. */
export function phrasesInSource(): Set<string> {
  const found = new Set<string>(TABLES);
  for (const file of globSync('**/*.ts', { cwd: SOURCE.pathname })) {
    const text = readFileSync(new URL(file, SOURCE), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
    for (const { index, 0: opening } of text.matchAll(/\bsay(?:\.html)?`/g))
      found.add(templateAt(text, index + opening.length));
    for (const [, one] of text.matchAll(CONSTANT)) found.add(plain(one!));
    for (const [, one, other] of text.matchAll(COUNTED)) found.add(`${plain(one!)}|${plain(other!)}`);
  }
  return found;
}

/** The template that begins at `at`, with numbers in place of its values. */
function templateAt(text: string, at: number): string {
  let key = '';
  let value = 0;
  for (let i = at; text[i] !== '`'; i++) {
    if (text.startsWith('${', i)) {
      key += `{${value++}}`;
      i = endOfValue(text, i + 2);
    } else if (text[i] === '\\') key += text[++i];
    else key += text[i];
  }
  return key.replace(/\s+/g, ' ');
}

/** Where the value of a template that begins at `at` ends. */
function endOfValue(text: string, at: number): number {
  let depth = 1;
  for (let i = at; ; i++) {
    if (text[i] === '`') i = endOfTemplate(text, i + 1);
    else if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return i;
  }
}

function endOfTemplate(text: string, at: number): number {
  let i = at;
  while (text[i] !== '`') i = text.startsWith('${', i) ? endOfValue(text, i + 2) + 1 : i + 1;
  return i;
}

const GERMAN: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('administrators/pages/phrases/de.json', SOURCE), 'utf8'),
);
/** Words that German has not, or not as words of their own. */
const ENGLISH_WORDS = /\b(the|of|and|is|it|its|to|from|with|for|that|this|by|your|you|are|must|has|have)\b/i;
/** What a page marks as no words of its own, or as English. */
const isData = ({ tagName, attrs }: Element) =>
  ['script', 'style', 'code', 'pre', 'bdi', 'textarea', 'kbd'].includes(tagName) ||
  attrs.some(({ name, value }) =>
    name === 'class'
      ? /\b(said|literal|words)\b/.test(value)
      : `${name}=${value}` === 'lang=en' ||
        `${name}=${value}` === 'translate=no' ||
        `${name}=${value}` === 'dir=auto',
  );

/** What a page of the console in German says in English: texts of the catalogue, and sentences. `names` are data that it may hold. */
export function englishIn(page: string, names: readonly string[]): string[] {
  const found: string[] = [];
  const look = (text: string) => {
    const own = names.reduce((left, name) => left.replaceAll(name, ''), text.replace(/\s+/g, ' ').trim());
    if ((Object.hasOwn(GERMAN, own) && GERMAN[own] !== own) || ENGLISH_WORDS.test(own)) found.push(own);
  };
  const walk = (node: DefaultTreeAdapterMap['node']): void => {
    if (defaultTreeAdapter.isTextNode(node)) look(node.value);
    if (defaultTreeAdapter.isElementNode(node)) {
      if (isData(node)) return;
      for (const { name, value } of node.attrs)
        if (['aria-label', 'placeholder', 'title', 'data-label'].includes(name)) look(value);
    }
    if ('childNodes' in node) node.childNodes.forEach(walk);
  };
  walk(parse(page));
  return found;
}
