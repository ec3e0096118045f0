// The languages of checkout and of registration: each whole, with every value in its place, and nothing of another left over.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { html } from '../../src/lib/html.ts';
import { Locale } from '../../src/lib/locale.ts';
import { FIELDS, readField } from '../../src/payments/methods/fields.ts';
import { LANGUAGES, Languages, messagesOf } from '../../src/web/markup/languages.ts';

const english = messagesOf('en');
type Key = keyof typeof english;
const keys = Object.keys(english) as Key[];
const others = LANGUAGES.filter(({ tag }) => tag !== 'en');

/** The names of the values a message takes, each once, and the kinds of plural it tells apart. */
function valuesOf(message: string): string[] {
  return [...new Set([...message.matchAll(/\{(\w+)[,}]/g)].map(([, name]) => name!))].sort();
}

/** Messages that are the same in another language because they are names or happen to be. */
const SAME = new Set(['fact.merchant', 'fact.payer_name', 'status.pending', 'transfer.amount', 'title']);

/** Every character that a script other than Latin may share with it: names, abbreviations, placeholders. */
const LATIN_NAMES =
  /OpenAPI|API|Cookie|IBAN|BIC|UPI|QR|PIX|name@example\.com|\{[^{}]*\}|\{\w+, plural,|\b(?:zero|one|two|few|many|other)\b/g;

test('there is a file for each language, and none besides.', () => {
  const files = readdirSync(new URL('../../src/web/markup/languages', import.meta.url)).sort();
  assert.deepEqual(files, LANGUAGES.map(({ tag }) => `${tag}.json`).sort());
  assert.ok(LANGUAGES.length >= 14);
});

for (const { tag, direction } of others) {
  describe(tag, () => {
    const messages = messagesOf(tag);

    test('has every message of English, in its order, and no other.', () => {
      assert.deepEqual(Object.keys(messages), keys);
    });

    test('takes the same values in each message.', () => {
      for (const key of keys) assert.deepEqual(valuesOf(messages[key]), valuesOf(english[key]), key);
    });

    test('names the order, the transfer and the payment differently.', () => {
      const labels = ['fact.reference', 'transfer.reference', 'fact.payment'] as const;
      assert.equal(new Set(labels.map((key) => messages[key])).size, labels.length);
    });

    test('leaves no English over.', () => {
      const same = keys.filter((key) => messages[key] === english[key] && !SAME.has(key));
      assert.ok(same.length <= 4, same.join(', '));
      for (const key of same) assert.ok(english[key].length < 20, key);
      if (!['ar', 'he', 'ja', 'zh-Hans', 'hi'].includes(tag)) return;
      for (const key of keys)
        assert.doesNotMatch(messages[key].replace(LATIN_NAMES, ''), /\p{Script=Latin}{2,}/u, key);
    });

    test('tells apart the plurals it has, and formats every message.', () => {
      const locale = new Locale<Key>({ tag, name: tag, direction }, messages, 'UTC');
      const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
      for (const key of keys) {
        if (/, plural,/.test(messages[key]))
          for (const category of categories)
            assert.match(messages[key], new RegExp(`\\b${category} \\{`), key);
        const values = Object.fromEntries(
          valuesOf(english[key]).map((name) => [
            name,
            /count|minutes|maximum/.test(name) ? 3 : html`<i></i>`,
          ]),
        );
        const written = String(locale.html(key, values));
        assert.doesNotMatch(written, /[{}]/, key);
      }
    });
  });
}

test('every message that code names by parts is there: fields, faults, statuses, methods.', () => {
  const wanted: string[] = [];
  const samples = [
    '',
    ' ',
    'x',
    '1',
    '00/40',
    '13/40',
    '01/20',
    '4000000000000002',
    '4000000000000069',
    '5',
    '\u0007',
  ];
  samples.push('x'.repeat(5000), '4242424242424242', 'GB82 WEST 1234 5698 7654 33');
  for (const name of Object.keys(FIELDS) as (keyof typeof FIELDS)[]) {
    wanted.push(`field.${name}`);
    for (const required of [true, false]) {
      for (const sample of samples) {
        const reading = readField({ name, required }, sample, Date.now());
        if (!('fault' in reading)) continue;
        wanted.push(
          /^(text|card)$/.test(reading.fault) ? `error.${reading.fault}` : `error.${name}.${reading.fault}`,
        );
      }
    }
  }
  const optional = /^error\.(note|transfer-name|transfer-iban|customer-reference|payer-phone)\.empty$/;
  for (const key of new Set(wanted)) if (!optional.test(key)) assert.ok(Object.hasOwn(english, key), key);
  const used = new Set(wanted);
  for (const key of keys.filter((one) => /^error\.[a-z]+-[a-z]+\./.test(one)))
    assert.ok(used.has(key), `unused: ${key}`);
});

/** What a language never writes: its typography, and the other way to address somebody. */
const NEVER: Record<string, RegExp> = {
  de: /(?<!\p{L})(du|dir|dich|deine?)(?!\p{L})|\S…/iu, // a dropped word has a space before its ellipsis
  fr: /[^\u00a0]:|[^\u202f][?!;]|«[^\u00a0]|[^\u00a0]»|(?<!\p{L})(tu|toi|tes?|ton)(?!\p{L})/iu,
  es: /(?<!\p{L})(tú|tu|tus|te)(?!\p{L})/iu,
  it: /(?<!\p{L})(tuo|tua|tuoi|tue)(?!\p{L})/iu,
  nl: /(?<!\p{L})(je|jij|jouw)(?!\p{L})/iu,
  ja: /[\u3041-\u9fff][,.:;?!()]|[,:;?!()][\u3041-\u9fff]|[。、：！？] |領収書/u, // the last would be an official document
  'zh-Hans': /[\u4e00-\u9fff][,.:;?!()]|[,:;?!()][\u4e00-\u9fff]|[。，：！？] /u,
};

test('each language keeps its punctuation, and one way to address the customer.', () => {
  for (const [tag, never] of Object.entries(NEVER))
    for (const [key, message] of Object.entries(messagesOf(tag)))
      assert.doesNotMatch(
        message.replace(/\{\w+, plural, *|\b\w+ \{(?=#)|https?:/g, ''),
        never,
        `${tag} ${key}`,
      );
});

test('no message says please, sorry, oops, valid or invalid.', () => {
  for (const key of keys)
    assert.doesNotMatch(english[key], /\b(please|sorry|oops|valid|invalid|forbidden)\b/i, key);
});

test('a currency’s sign of letters and a sign keeps its order in a language read from the right.', () => {
  const languages = new Languages('UTC');
  const amount = (tag: string, currency: string) => languages.choose(tag).money(4990, currency);
  assert.match(amount('ar', 'USD'), /US\$\u200e$/);
  assert.match(amount('ar', 'BRL'), /R\$\u200e$/);
  assert.doesNotMatch(amount('de', 'BRL') + amount('ar', 'EUR'), /\u200e/);
});

test('the language is the one named, else the best of the browser’s, else English.', () => {
  const languages = new Languages('UTC');
  for (const [named, accepted, expected] of [
    [undefined, undefined, 'en'],
    ['de', 'fr', 'de'],
    ['xx', 'fr', 'fr'],
    ['DE', undefined, 'de'],
    ['de-AT', 'fr', 'de'],
    ['pt', 'fr', 'pt-BR'],
    ['zh-TW', 'fr', 'zh-Hans'],
    ['*', undefined, 'en'],
    [undefined, 'zh-TW', 'zh-Hans'],
    [undefined, 'zh-Hant-HK, fr;q=0.5', 'fr'],
    [undefined, 'de-AT,de;q=0.9,en;q=0.8', 'de'],
    [undefined, 'pt-PT', 'pt-BR'],
    [undefined, 'zh-CN,zh;q=0.9', 'zh-Hans'],
    [undefined, 'iw', 'he'],
    [undefined, 'xx, sv;q=0.5, ar-EG;q=0.4', 'ar'],
    [undefined, '*', 'en'],
    [undefined, ';;;,,,=', 'en'],
    [undefined, 'en;q=0, tr', 'tr'],
    [undefined, `${'xx-'.repeat(3000)}de`, 'en'],
    [undefined, `${'*,'.repeat(7500)}de`, 'en'], // a header without end is read no further than any browser writes
  ] as const)
    assert.equal(languages.choose(named, accepted).tag, expected, `${named} ${accepted?.slice(0, 40)}`);
});

test('text is isolated from the direction of what stands around it, and escaped.', () => {
  const words = new Languages('UTC').choose('ar', undefined);
  const merchant = '<b>Shop & "Sons"</b>';
  assert.match(
    String(words.html('pending.heading', { merchant })),
    /<bdi>&lt;b&gt;Shop &amp; &quot;Sons&quot;&lt;\/b&gt;<\/bdi>/,
  );
});
