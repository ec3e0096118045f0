// The texts of the console as they stand in the source: what a language's file must translate.
import { globSync, readFileSync } from 'node:fs';

const SOURCE = new URL('../../src/', import.meta.url);
const CONSTANT = /\bphrase\(\s*'((?:[^'\\]|\\.)*)',?\s*\)/g;
const COUNTED = /\.count\(\s*[^'"`]+?,\s*'((?:[^'\\]|\\.)*)',\s*'((?:[^'\\]|\\.)*)',?\s*\)/g;
const plain = (literal: string) => literal.replace(/\\(.)/g, '$1');

/** Every text, each once: templates of `say` with `{0}` for their values, `phrase`, and the forms of `say.count`. */
export function phrasesInSource(): Set<string> {
  const found = new Set<string>();
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
