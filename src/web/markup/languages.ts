// The languages of checkout and of registration, and which of them a request is answered in.
import { readFileSync } from 'node:fs';
import { match } from '@formatjs/intl-localematcher';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { type Language, Locale } from '../../lib/locale.ts';
import { languageTag } from '../../lib/text.ts';
import type english from './languages/en.json';

export type Key = keyof typeof english;
export type Words = Locale<Key>;

export const LANGUAGES: readonly Language[] = [
  { tag: 'en', name: 'English', direction: 'ltr' },
  { tag: 'de', name: 'Deutsch', direction: 'ltr' },
  { tag: 'fr', name: 'Français', direction: 'ltr' },
  { tag: 'es', name: 'Español', direction: 'ltr' },
  { tag: 'it', name: 'Italiano', direction: 'ltr' },
  { tag: 'nl', name: 'Nederlands', direction: 'ltr' },
  { tag: 'pl', name: 'Polski', direction: 'ltr' },
  { tag: 'pt-BR', name: 'Português (Brasil)', direction: 'ltr' },
  { tag: 'tr', name: 'Türkçe', direction: 'ltr' },
  { tag: 'ar', name: 'العربية', direction: 'rtl' },
  { tag: 'he', name: 'עברית', direction: 'rtl' },
  { tag: 'ja', name: '日本語', direction: 'ltr' },
  { tag: 'zh-Hans', name: '简体中文', direction: 'ltr' },
  { tag: 'hi', name: 'हिन्दी', direction: 'ltr' },
];
const DEFAULT = 'en';
/** What matches nothing (BCP 47, section 4.1). */
const UNDETERMINED = 'und';
const TAGS = LANGUAGES.map(({ tag }) => tag);

/** How much of a header is read, how many of its languages are looked at, and how many headers are remembered. */
const HEADER_MAXIMUM = 256;
const PREFERENCES_MAXIMUM = 8;
const HEADERS_REMEMBERED = 500;

/** The messages of one language. Throws the system's error where the file is missing. */
export function messagesOf(tag: string): Record<Key, string> {
  return JSON.parse(readFileSync(new URL(`languages/${tag}.json`, import.meta.url), 'utf8'));
}

/** All languages, with moments shown in `timeZone`. */
export class Languages {
  static readonly #byTimeZone = new Map<string, Languages>();

  /** The languages in `timeZone`, the same for all who ask: their formats take some memory. */
  static in(timeZone: string): Languages {
    let languages = Languages.#byTimeZone.get(timeZone);
    if (!languages) {
      languages = new Languages(timeZone);
      Languages.#byTimeZone.set(timeZone, languages);
    }
    return languages;
  }

  readonly #timeZone: string;
  readonly #messages = new Map(TAGS.map((tag) => [tag, messagesOf(tag)]));
  /** Those that were requested so far: creating formats takes time and memory. */
  readonly #locales = new Map<string, Words>();
  readonly #chosen = new LRUCache<string, Words | 'none'>({ max: HEADERS_REMEMBERED });

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
  }

  /** The language of one of our tags. */
  #locale(tag: string): Words {
    const known = this.#locales.get(tag);
    if (known) return known;
    const language = LANGUAGES.find((one) => one.tag === tag)!;
    const locale = new Locale<Key>(language, this.#messages.get(tag)!, this.#timeZone);
    this.#locales.set(tag, locale);
    return locale;
  }

  /**
   * The language nearest to the first of `wanted` that has one, else English. Each is a language tag (BCP 47) in any case, or an
   * Accept-Language header (RFC 9110, section 12.5.4).
   */
  choose(...wanted: readonly (string | null | undefined)[]): Words {
    for (const tags of wanted) {
      const words = tags && this.#nearest(tags.slice(0, HEADER_MAXIMUM));
      if (words) return words;
    }
    return this.#locale(DEFAULT);
  }

  #nearest(tags: string): Words | undefined {
    let chosen = this.#chosen.get(tags);
    if (chosen === undefined) {
      const tag = nearest(tags);
      chosen = tag === undefined ? 'none' : this.#locale(tag);
      this.#chosen.set(tags, chosen);
    }
    return chosen === 'none' ? undefined : chosen;
  }
}

/** The tag of our language that suits `tags` best; undefined if none does. */
function nearest(tags: string): string | undefined {
  const wanted = new Negotiator({ headers: { 'accept-language': tags } })
    .languages()
    .filter(languageTag) // `*` is none
    .slice(0, PREFERENCES_MAXIMUM);
  const found = match(wanted, TAGS, UNDETERMINED);
  if (found !== UNDETERMINED) return found;
  // Another script of the same language is nearer than English: Traditional Chinese is answered in Simplified Chinese.
  const primary = (tag: string) => new Intl.Locale(tag).language;
  const languages = wanted.map(primary);
  return TAGS.find((tag) => languages.includes(primary(tag)));
}
