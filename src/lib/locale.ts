// What a language needs: its messages (ICU MessageFormat), money, moments, and the direction it is read in.
import { IntlMessageFormat } from 'intl-messageformat';
import { LRUCache } from 'lru-cache';
import { type Html, html, isHtml, settled } from './html.ts';
import { type Moments, momentsIn } from './moments.ts';
import { formatAmount } from './money.ts';
import { formatTimestamp } from './time.ts';

/** The decimals that people read of `49.90` (2), `2.339` (3) and `7.00` (0: as the currency has them). */
const digitsOf = (decimal: string): number => (decimal.endsWith('.00') ? 0 : decimal.split('.')[1]!.length);

/** Signs that several currencies share. */
const SHARED_SIGNS = new Set(['$', '¥', 'kr']);

/** A currency's sign such as `US$`. In text read from the right it shows as `$US` unless a left-to-right mark follows. */
const LETTERS_AND_SIGN = /\p{L}\p{Sc}/u;

/** The parts of a formatted amount that are its number. */
const NUMBER_PARTS = new Set(['integer', 'group', 'decimal', 'fraction']);

/** Maximum number of cached things of one kind in a language. A piece of a page has a few thousand characters at most. */
const REMEMBERED = 1000;

/** A cache that makes what it lacks by the function which it is asked with. */
const cacheOf = <T extends object | string>() =>
  new LRUCache<string, T, () => T>({
    max: REMEMBERED,
    memoMethod: (_name, _stale, { context }) => context(),
  });

export interface Language {
  /** BCP 47. */
  tag: string;
  /** What its speakers call it. */
  name: string;
  direction: 'ltr' | 'rtl';
}

type TextValues = Readonly<Record<string, string | number>>;
type HtmlValues = Readonly<Record<string, string | number | Html>>;

/** One language with its messages, which are known by `Key`. */
export class Locale<Key extends string> implements Language {
  readonly tag: string;
  readonly name: string;
  readonly direction: 'ltr' | 'rtl';
  readonly #messages: Readonly<Record<Key, string>>;
  readonly #compiled = cacheOf<IntlMessageFormat>();
  readonly #plain = cacheOf<Html>();
  readonly #pieces = cacheOf<object>();
  readonly #texts = cacheOf<string>();
  /** Prices come again. */
  readonly #amounts = cacheOf<string>();
  /** How each currency is written, with the code that goes behind it where its sign is not its own. */
  readonly #currencies = cacheOf<{ format: Intl.NumberFormat; code: string }>();
  readonly #moments: Moments;

  /** `timeZone`: the one that moments are shown in. */
  constructor(language: Language, messages: Readonly<Record<Key, string>>, timeZone: string) {
    this.tag = language.tag;
    this.name = language.name;
    this.direction = language.direction;
    this.#messages = messages;
    this.#moments = momentsIn(timeZone, language.tag);
  }

  #message(key: Key): IntlMessageFormat {
    const make = () => new IntlMessageFormat(this.#messages[key], this.tag, undefined, { ignoreTag: true });
    return this.#compiled.memo(key, { context: make });
  }

  /** A message as bare text. */
  text(key: Key, values: TextValues = {}): string {
    const make = () => String(this.#message(key).format(values));
    const name = nameOf(key, values);
    return name === undefined ? make() : this.#texts.memo(name, { context: make });
  }

  /** A message as markup. Values that are text are isolated from the direction of what stands around them. */
  html(key: Key, values?: HtmlValues): Html {
    if (!values) return this.#plain.memo(key, { context: () => settled(html`${this.text(key)}`) });
    const name = nameOf(key, values);
    if (name === undefined) return this.#format(key, values);
    return this.remembered(name, () => settled(this.#format(key, values)));
  }

  /** A piece of a page in this language. It is cached, and made again if it was not asked for recently. */
  remembered<T extends object>(name: string, make: () => T): T {
    return this.#pieces.memo(name, { context: make }) as T;
  }

  #format(key: Key, values: HtmlValues): Html {
    const isolated: Record<string, number | Html> = {};
    for (const [name, value] of Object.entries(values))
      isolated[name] = typeof value === 'string' ? html`<bdi>${value}</bdi>` : value;
    const parts = this.#message(key).formatToParts<Html>(isolated as Record<string, Html>);
    return html`${parts.map(({ value }) => (isHtml(value) ? value : String(value)))}`;
  }

  /**
   * An amount (hundredths) as people write it, never losing a fraction, with the code behind it where its sign names several
   * currencies.
   */
  money(minor: number, currency: string): string {
    return this.#amounts.memo(currency + minor, { context: () => this.#money(minor, currency) });
  }

  /** The number of an amount (hundredths) as `money` writes it, without the currency: for pasting. */
  amount(minor: number, currency: string): string {
    const decimal = formatAmount(minor) as `${number}`;
    const parts = this.#manner(decimal, currency).format.formatToParts(decimal);
    return parts.map(({ type, value }) => (NUMBER_PARTS.has(type) ? value : '')).join('');
  }

  #money(minor: number, currency: string): string {
    const decimal = formatAmount(minor) as `${number}`;
    const { format, code } = this.#manner(decimal, currency);
    const text = format.format(decimal) + code;
    return this.direction === 'rtl' ? text.replace(LETTERS_AND_SIGN, '$&\u200e') : text;
  }

  /** How an amount of as many decimals is written in a currency. */
  #manner(decimal: string, currency: string) {
    const digits = digitsOf(decimal);
    const make = () => {
      const format = new Intl.NumberFormat(this.tag, {
        style: 'currency',
        currency,
        // Amounts are hundredths: `KWD 10.000` could be read as ten thousand.
        ...{ minimumFractionDigits: digits || undefined, maximumFractionDigits: digits || 2 },
      });
      const sign = format.formatToParts(0).find(({ type }) => type === 'currency')?.value;
      return { format, code: SHARED_SIGNS.has(sign ?? '') ? ` ${currency}` : '' };
    };
    return this.#currencies.memo(currency + digits, { context: make });
  }

  moment(ms: number): Html {
    return html`<time datetime="${formatTimestamp(ms)}">${this.#moments.moment(ms)}</time>`;
  }

  /** A day, given as `2026-11-20`. */
  day(date: string): Html {
    return html`<time datetime="${date}">${this.#moments.day(date)}</time>`;
  }

  /** The date that a moment has where moments are shown: `2026-11-20`. */
  dateOf(ms: number): string {
    return this.#moments.dateOf(ms);
  }
}

/**
 * What a message with these values is remembered by; undefined where it is not. With at most one value, and that a text: the
 * merchant's name above all, which comes again with each of its payments.
 */
function nameOf(key: string, values: HtmlValues): string | undefined {
  let name = key;
  for (const value of Object.values(values)) {
    if (name !== key || typeof value !== 'string') return undefined;
    name = `${key}\0${value}`;
  }
  return name;
}
