// The console's languages: each file translates every text of the source, with all its values, and no other.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { html } from '../../src/lib/html.ts';
import { phrase, sayIn } from '../../src/lib/phrases.ts';
import { LANGUAGES } from '../../src/web/markup/languages.ts';
import { phrasesInSource } from '../support/phrases.ts';

const FOLDER = new URL('../../src/administrators/pages/phrases/', import.meta.url);
const values = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([one]) => one).sort();

for (const file of readdirSync(FOLDER))
  test(`${file} translates every text of the console, with its values, and no other.`, () => {
    const tag = file.replace('.json', '');
    assert.ok(LANGUAGES.some((one) => one.tag === tag));
    const translations: Record<string, string> = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
    const wanted = phrasesInSource();
    assert.deepEqual(
      [...wanted].filter((text) => !Object.hasOwn(translations, text)),
      [],
      'not translated',
    );
    assert.deepEqual(
      Object.keys(translations).filter((text) => !wanted.has(text)),
      [],
      'said nowhere',
    );
    const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories.length;
    for (const [text, translation] of Object.entries(translations)) {
      if (text.includes('|')) assert.equal(translation.split('|').length, forms, text);
      else assert.deepEqual(values(translation), values(text), text);
    }
  });

test('A text is said in its language, with its values in place, escaped where it is markup; without a translation in English.', () => {
  const say = sayIn('de', {
    '{0} owes {1}.': '{1} schuldet {0}.',
    Yes: 'Ja',
    '{n} line|{n} lines': '{n} Zeile|{n} Zeilen',
  });
  assert.equal(say`${'Ana'} owes ${2}.`, '2 schuldet Ana.');
  assert.equal(say.html`${'<b>'} owes ${html`<i>x</i>`}.`.toString(), '<i>x</i> schuldet &lt;b&gt;.');
  assert.equal(say.of(phrase('Yes')), 'Ja');
  assert.deepEqual(
    [1, 2, 1234].map((n) => say.count(n, '{n} line', '{n} lines')),
    ['1 Zeile', '2 Zeilen', '1.234 Zeilen'],
  );
  assert.equal(
    say`Not
  known: ${1}`,
    'Not known: 1',
  );
});
