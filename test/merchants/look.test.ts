// Names that people take for each other: whichever forms of letters they are written with.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { looksLikeBrand } from '../../src/merchants/brands.ts';
import letterForms from '../../src/merchants/letter-forms.json' with { type: 'json' };
import { lookAlike } from '../../src/merchants/look.ts';

test('every form of a letter looks like the letter', () => {
  const missed = Object.entries(letterForms).flatMap(([letter, forms]) =>
    [...forms].filter((form) => !lookAlike(`sho${form}`, `sho${letter}`)),
  );
  assert.deepEqual(missed, []);
});

test('a brand is known in whatever letters it is written', () => {
  for (const name of [
    'ᴘᴀʏᴘᴀʟ',
    'ᴘaʏᴘaʟ Support',
    'ＰａｙＰａｌ',
    '🅿🅰🆈🅿🅰🅻',
    '🅿︎🅰︎🆈🅿🅰🅻',
    '🅟🅐🅨🅟🅐🅛',
    '🇵🇦🇾🇵🇦🇱',
    'Ⓟⓐⓨⓟⓐⓛ',
    'PⱥyPⱥl',
    'ꝐayꝐal',
    'P\u0337a\u0337yPal',
    'PɐyPɐl',
    'ᵖᵃʸᵖᵃˡ',
    'sᴛʀɪᴘᴇ',
    'ᴍᴀsᴛᴇʀᴄᴀʀᴅ',
  ])
    assert.ok(looksLikeBrand(name), name);
  for (const name of ['Corner Shop', 'Łódź Bakery', 'Ɛkua Textiles', 'Søren & Co.', '🇩🇰 Shop'])
    assert.ok(!looksLikeBrand(name), name);
});
