// Prints the files that a reader meets who follows one request by its symbols, from its route to what the store is asked for.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const SRC = resolve(import.meta.dirname, '../src');

/**
 * The stories of docs/architecture.md, from the route to what the store is asked for. A step is a symbol. What is called by way of a value,
 * such as the handler of a route or a journal, is a step of its own.
 */
export const STORIES: Readonly<Record<string, readonly string[]>> = {
  create: [
    'merchants/api/authenticate.ts authenticator',
    'web/rate-limit.ts takeFrom',
    'web/endpoint.ts handlerOf',
    'payments/api/payments.ts create',
    'payments/api/once.ts answerOnce',
    'payments/api/once.ts withIdempotencyKeyChecked',
    'journal/journal.ts Journal',
  ],
  approve: [
    'web/pages/surface.ts answerOf',
    'administrators/pages/visit.ts visitOf',
    'administrators/pages/guard.ts admit',
    'review/pages/decision.ts decide',
    'journal/journal.ts Journal',
  ],
};

/** What is not followed: the pages that a request is answered with if it is not obeyed, and the languages that they are written in. */
const PAGES = ['draftPage', 'askToSignIn', 'asking', 'undecided', 'phrasebook', 'tongueOf'];

/** The symbols of a file: their text, and where each name that it imports comes from. */
interface Source {
  declared: Map<string, string>;
  imported: Map<string, { file: string; name: string }>;
}

const DECLARATION =
  /^(?:export )?(?:async )?(?:abstract )?(?:function\*?|const|let|class) (\w+|\{[^}]*\}|\[[^\]]*\])/;
const sources = new Map<string, Source>();

/** Reads a file by its layout: Biome starts each declaration in the first column. Types do not count: nothing runs in them. */
function sourceOf(file: string): Source {
  const known = sources.get(file);
  if (known) return known;
  const text = readFileSync(join(SRC, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const imported = new Map<string, { file: string; name: string }>();
  for (const [, names, from] of text.matchAll(/^(?:import|export) (?!type )([^;]*?) from '(\.[^']+)'/gm)) {
    const target = relative(SRC, join(SRC, dirname(file), from!));
    for (const [, name, as] of names!.matchAll(/(?<!type )\b(\w+)(?: as (\w+))?\s*[,}]/g))
      imported.set(as ?? name!, { file: target, name: name! });
  }
  const declared = new Map<string, string>();
  for (const part of text.split(/^(?=[a-z@])/m)) {
    const names = DECLARATION.exec(part)?.[1]?.match(/\w+/g) ?? [];
    for (const name of names) declared.set(name, part);
    // One that stands in a function: `paymentEndpoints` holds an endpoint in each of its constants.
    for (const [inner, name] of part.matchAll(/^ {2}const (\w+) = [\s\S]*?^ {2}\}\);$/gm))
      if (!declared.has(name!)) declared.set(name!, inner);
  }
  const source = { declared, imported };
  sources.set(file, source);
  return source;
}

/** The files that `steps` lead to, each with the symbols of it that are met, in the order in which they are. */
export function walk(steps: readonly string[]): Map<string, string[]> {
  const met = new Map<string, string[]>();
  function follow(file: string, name: string): void {
    const { declared, imported } = sourceOf(file);
    const elsewhere = imported.get(name);
    if (elsewhere && !declared.has(name)) {
      follow(elsewhere.file, elsewhere.name);
      return;
    }
    const text = declared.get(name);
    const symbols = met.get(file) ?? [];
    if (text === undefined || symbols.includes(name)) return;
    met.set(file, [...symbols, name]);
    const words = text.replaceAll(/'(?:[^'\\\n]|\\.)*'/g, '').match(/(?<![.\w])[A-Za-z_]\w*/g) ?? [];
    for (const word of new Set(words))
      if ((imported.has(word) || declared.has(word)) && !PAGES.includes(word)) follow(file, word);
  }
  for (const step of steps) {
    const [file, name] = step.split(' ') as [string, string];
    if (!sourceOf(file).declared.has(name)) throw new Error(`There is no ${name} in src/${file}.`);
    follow(file, name);
  }
  return met;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const [story, steps] of Object.entries(STORIES)) {
    const met = walk(steps);
    console.log(`${story}: ${met.size} files`);
    for (const [file, symbols] of met) console.log(`  src/${file}  ${symbols.join(' ')}`);
  }
