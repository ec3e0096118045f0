// Texts that stand in English where they are used, and their translations: one file for each language, keyed by the English text.
import { readdirSync, readFileSync } from 'node:fs';
import { match } from '@formatjs/intl-localematcher';
import Negotiator from 'negotiator';
import { type Html, html } from './html.ts';
import { languageTag } from './text.ts';

type Insertable = Parameters<typeof html>[1];

/** The English texts and what a language says instead. `{0}`, `{1}` … stand for the values of a template. */
type Translations = Readonly<Record<string, string>>;

/** Says texts in one language. A text without a translation is said in English. */
export interface Say {
  /** A text with values that are text. */
  (strings: TemplateStringsArray, ...values: (string | number)[]): string;
  /** A text with values that are markup. */
  html(strings: TemplateStringsArray, ...values: Insertable[]): Html;
  /** The text for a number of things, with the number for `{n}`. */
  count(number: number, one: string, other: string): string;
  /** A text that `phrase` marked. */
  of(text: string): string;
  /** BCP 47. */
  readonly tag: string;
}

/** A sentence in the reader's language: that of a page; programs and the log use `ENGLISH`. */
export type Sentence = (say: Say) => string;

/** A sentence with its English, as an error holds it. */
export type Spoken = Sentence & { readonly english: string };

/** Marks a text that is said elsewhere, by `Say.of`: so that it is known to need a translation. */
export const phrase = (text: string): string => text;

/** What a template is translated by: its text in one line, with `{0}` … for its values. */
const keyOf = (strings: readonly string[]): string =>
  strings
    .map((text, index) => (index === 0 ? text : `{${index - 1}}${text}`))
    .join('')
    .replace(/\s+/g, ' ');

/** In this order a translation gives the forms that its language has, with `|` between them. */
const CATEGORIES = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

export function sayIn(tag: string, translations: Translations): Say {
  const numbers = new Intl.NumberFormat(tag);
  const plurals = new Intl.PluralRules(tag);
  const has = plurals.resolvedOptions().pluralCategories;
  const forms = CATEGORIES.filter((one) => has.includes(one));
  /** A text in pieces: those at odd places are numbers of values. Templates are few and live as long as the program. */
  const compiled = new Map<readonly string[], string[]>();
  const piecesOf = (strings: readonly string[]): string[] => {
    const known = compiled.get(strings);
    if (known) return known;
    const key = keyOf(strings);
    const pieces = (translations[key] ?? key).split(/\{(\d)\}/);
    compiled.set(strings, pieces);
    return pieces;
  };
  const written = (value: string | number) =>
    typeof value === 'number' && !Number.isInteger(value) ? numbers.format(value) : String(value);
  const say = (strings: TemplateStringsArray, ...values: (string | number)[]) =>
    piecesOf(strings)
      .map((piece, index) => (index % 2 === 0 ? piece : written(values[Number(piece)]!)))
      .join('');
  return Object.assign(say, {
    html: (strings: TemplateStringsArray, ...values: Insertable[]) =>
      html`${piecesOf(strings).map((piece, index) => (index % 2 === 0 ? piece : values[Number(piece)]))}`,
    count(number: number, one: string, other: string) {
      const translated = translations[`${one}|${other}`]?.split('|');
      const text = translated
        ? (translated[forms.indexOf(plurals.select(number))] ?? translated.at(-1)!)
        : number === 1
          ? one
          : other;
      return text.replace('{n}', numbers.format(number));
    },
    of: (text: string) => translations[text] ?? text,
    tag,
  });
}

export const ENGLISH = sayIn('en', {});

export const spoken = (sentence: Sentence): Spoken =>
  Object.assign((say: Say) => sentence(say), { english: sentence(ENGLISH) });

/** The languages of a folder of translations, English among them; a further one is a further file, named by its tag. */
export class Phrasebook {
  readonly #languages = new Map<string, Say>([['en', ENGLISH]]);
  readonly tags: readonly string[];

  /** Throws the system's error where the folder cannot be read, and `SyntaxError` where a file is no JSON. */
  constructor(folder: URL) {
    for (const name of readdirSync(folder)) {
      const tag = name.replace(/\.json$/, '');
      if (tag !== name)
        this.#languages.set(tag, sayIn(tag, JSON.parse(readFileSync(new URL(name, folder), 'utf8'))));
    }
    this.tags = [...this.#languages.keys()];
  }

  /** The language nearest to the first of `wanted` that has one, else English: tags, or Accept-Language headers (RFC 9110). */
  choose(...wanted: readonly (string | null | undefined)[]): Say {
    for (const header of wanted) {
      if (!header) continue;
      const asked = new Negotiator({ headers: { 'accept-language': header.slice(0, 256) } })
        .languages()
        .filter(languageTag)
        .slice(0, 8);
      const found = match(asked, this.tags, 'und');
      if (found !== 'und') return this.#languages.get(found)!;
    }
    return ENGLISH;
  }
}
