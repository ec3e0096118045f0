// What each field of checkout takes, keeps and masks.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { composeIBAN } from 'ibantools';
import {
  FIELDS,
  type Field,
  type FieldFault,
  type FieldName,
  maskEmail,
  maskIban,
  maskName,
  maskPhone,
  parseCardExpiry,
  parseCardNumber,
  type Reading,
  readField,
  TEST_CARDS,
} from '../../src/payments/methods/fields.ts';
import { messagesOf } from '../../src/web/markup/languages.ts';
import { isWhole } from '../support/extent.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const NOW = Date.UTC(2026, 10, 21);
const FIELD_MARKS = /\p{Cf}/u;
const NAMES = Object.keys(FIELDS) as FieldName[];
const RUNS = Number(process.env.COUNTERFOIL_RUNS) || (isWhole ? 20_000 : 4000);

const read = (name: FieldName, text: string, required = true): Reading =>
  readField({ name, required }, text, NOW);

describe('fields', () => {
  /** Text that each field takes, and what is kept of it. */
  const TAKEN: Record<FieldName, [typed: string, kept?: Extract<Reading, { kept: unknown }>['kept']][]> = {
    'payer-name': [['Ada Lovelace'], ["O'Brien-Łukasiewicz 3rd"], ['李'], ['  Ada  ', 'Ada'], ['👩🏽‍🔬']],
    'payer-email': [
      ['ada@example.org'],
      ['a.d+a@sub.example.co.uk'],
      ['アダ@例え.テスト'],
      [" o'brien@example.org ", "o'brien@example.org"],
      [`${'a'.repeat(64)}@example.org`],
    ],
    'payer-phone': [
      ['+44 20 7946 0958'],
      ['(030) 55-50'],
      ['٠٣٠ ١٢٣٤', '030 1234'],
      ['＋８１（９０）１２３４－５６７８', '+81(90)1234-5678'],
      ['0'],
      ['+49\u00a0170 123', '+49 170 123'],
    ],
    'transfer-name': [['Ada Lovelace Ltd & Co. KG']],
    'transfer-iban': [
      ['GB82 WEST 1234 5698 7654 32'],
      ['gb82west12345698765432'],
      ['GB82-WEST-1234-5698-7654-32'],
      ['DE89370400440532013000'],
      ['12345678'],
      ['12-34-56 12345678'],
      ['0012/345678'],
      ['DE٨٩ ٣٧٠٤ ٠٠٤٤ ٠٥٣٢ ٠١٣٠ ٠٠', 'DE89 3704 0044 0532 0130 00'],
      ['ＤＥ８９３７０４００４４０５３２０１３０００', 'DE89370400440532013000'],
    ],
    'customer-reference': [['Receipt 17'], ['№ 17/2026']],
    note: [['After six,\nthank you.'], ['a\r\nb\rc', 'a\nb\nc'], ['tab\there']],
    'card-number': [
      ['4242 4242 4242 4242', { brand: 'Visa', last4: '4242' }],
      ['5555555555554444', { brand: 'Mastercard', last4: '4444' }],
    ],
    'card-expiry': [['12/40', null]],
  };

  /** Text that each field refuses, and why. */
  const REFUSED: Record<FieldName, [typed: string, fault: FieldFault][]> = {
    'payer-name': [],
    'payer-email': [
      ['ada', 'form'],
      ['ada@', 'form'],
      ['@example.org', 'form'],
      ['ada@example', 'form'],
      ['ada@@example.org', 'form'],
      ['ada lovelace@example.org', 'form'],
      ['Ada <ada@example.org>', 'form'],
      ['ada@example.org,bob@example.org', 'form'],
      ['ada@example..org', 'form'],
      ['ada@-example.org', 'form'],
      ['.ada@example.org', 'form'],
      ['ada@example.org.', 'form'],
      [`${'a'.repeat(65)}@example.org`, 'form'],
      ['mailto:ada@example.org', 'form'],
    ],
    'payer-phone': [
      ['+', 'form'],
      ['()', 'form'],
      ['12x34', 'form'],
      ['tel:+4420', 'form'],
      ['1.2.3', 'form'],
      ['0170/123', 'form'],
    ],
    'transfer-name': [],
    'transfer-iban': [
      ['GB82 WEST 1234 5698 7654 33', 'form'],
      ['DE89 3704 0044 0532 0130 01', 'form'],
      ['GB82 WEST 1234 5698 7654 3', 'form'],
      ['ZZ82 WEST 1234 5698 7654 32', 'form'],
      ['12345678!', 'form'],
      ['IBAN: 1234', 'form'],
      ['1'.repeat(35), 'form'],
    ],
    'customer-reference': [],
    note: [],
    'card-number': [
      ['card', 'empty'],
      ['4242', 'unknown'],
      ['4000 0000 0000 0002', 'refused'],
      ['4000 0000 0000 0069', 'expired'],
      ['4111 1111 1111 1111', 'unknown'],
      ['4242 4242 4242 4242 4', 'unknown'],
    ],
    'card-expiry': [
      ['soon', 'form'],
      ['13/40', 'month'],
      ['00/40', 'month'],
      ['10/26', 'past'],
    ],
  };

  for (const name of NAMES) {
    test(`${name} takes what it should and keeps it as it is.`, () => {
      for (const [typed, kept = typed] of TAKEN[name]) assert.deepEqual(read(name, typed), { kept }, typed);
      assert.ok(TAKEN[name].length > 0);
    });

    test(`${name} says what is wrong with each text that it does not take.`, () => {
      for (const [typed, fault] of REFUSED[name]) assert.deepEqual(read(name, typed), { fault }, typed);
    });

    test(`${name} is wanted where it is required, and may be left out where it is not.`, () => {
      for (const typed of ['', ' ', '\r\n', '\u00a0\u3000\t']) {
        assert.deepEqual(read(name, typed), { fault: 'empty' });
        assert.deepEqual(read(name, typed, false), { kept: null });
      }
    });

    test(`${name} takes text of its greatest length, counted in characters, and none that is longer.`, () => {
      const field: Field = FIELDS[name];
      const tooLong = { fault: field.tooLong ?? 'long' };
      const longest = '𝒳'.repeat(field.maximum);
      assert.deepEqual(read(name, `${longest}𝒳`), tooLong);
      assert.deepEqual(read(name, `${longest}𝒳`, false), tooLong);
      if (!field.read) assert.deepEqual(read(name, ` ${longest} `), { kept: longest });
    });

    if ((FIELDS[name].attributes as { dir?: string }).dir === 'ltr')
      test(`${name} does without the marks of direction that come along with a pasted number.`, () => {
        const [[typed]] = TAKEN[name] as [[string]];
        assert.deepEqual(read(name, `\u202a${typed}\u202c`), read(name, typed));
      });

    test(`${name} takes no characters that steer, and a line break only where it has lines.`, () => {
      const [[typed]] = TAKEN[name] as [[string]];
      for (const odd of ['\u0000', '\u0007', '\u001b', '\u007f', '\u0085', '\u202e', '\u2066', '\ud800']) {
        const dropped = FIELD_MARKS.test(odd) && (FIELDS[name].attributes as { dir?: string }).dir === 'ltr';
        if (!dropped) assert.deepEqual(read(name, `${typed}${odd}x`), { fault: 'text' }, JSON.stringify(odd));
      }
      const broken = read(name, 'one\ntwo');
      assert.equal('kept' in broken, 'lines' in FIELDS[name]);
    });

    test(`${name} has a message for each of its faults.`, () => {
      const words = messagesOf('en') as Record<string, string>;
      const faults = new Set<FieldFault>(REFUSED[name].map(([, fault]) => fault));
      if (!('tooLong' in FIELDS[name])) faults.add('long');
      for (const fault of faults) assert.ok(words[`error.${name}.${fault}`], `error.${name}.${fault}`);
    });
  }

  test('a name whose text is empty of faults stays the same to the byte.', () => {
    for (const name of ['payer-name', 'transfer-name', 'customer-reference', 'note'] as const)
      for (const typed of ['e\u0301', '\u00e9', '\u212b', 'ﬁ', 'İıſßẞ', '\u200f\u05d0', '<b>&amp;"\'', '🏳️‍🌈'])
        assert.deepEqual(read(name, typed), { kept: typed });
  });
});

describe('card numbers', () => {
  test('a test number is taken in digits of any script, with anything between and around them.', () => {
    const inDigits = (zero: number) =>
      '4242424242424242'.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
    for (const typed of [
      '4242424242424242',
      '4242 4242-4242 4242',
      '\t4242  4242 4242 4242\r\n',
      '4242\u00a04242\u00a04242\u00a04242',
      '4242\u20094242\u202f42424242',
      '4242.4242.4242.4242',
      '4242–4242—4242−4242',
      'Card no. 4242 4242 4242 4242, Visa',
      '"4242424242424242"',
      'x4242424242424242x',
      '\u200e4242424242424242\u200f',
      '\ufeff4242424242424242',
      inDigits(0xff10),
      inDigits(0x0660),
      inDigits(0x06f0),
      inDigits(0x0966),
      inDigits(0x1d7ce),
      '４２４２ 4242 ٤٢٤٢ ४२४२',
    ])
      assert.deepEqual(read('card-number', typed), { kept: { brand: 'Visa', last4: '4242' } }, typed);
  });

  test(`none of ${RUNS} other numbers of 13 to 19 digits is taken, whatever their check digit.`, () => {
    const random = new SeededRandom();
    const others = ['4111111111111111', '378282246310005', '6011111111111117', '4242424242424241'];
    for (const known of Object.keys(TEST_CARDS)) {
      others.push(`${known}0`, `0${known}`, known.slice(1), known.slice(0, -1), known + known.slice(0, 3));
      for (let at = 0; at < known.length; at++)
        others.push(`${known.slice(0, at)}${(Number(known[at]) + 1) % 10}${known.slice(at + 1)}`);
    }
    while (others.length < RUNS)
      others.push(Array.from({ length: random.between(13, 19) }, () => random.between(0, 9)).join(''));
    for (const number of others) {
      if (Object.hasOwn(TEST_CARDS, number)) continue;
      assert.deepEqual(parseCardNumber(number), { fault: 'unknown' }, `${number}, seed ${random.seed}`);
    }
  });

  test('names that every object has are no numbers.', () => {
    for (const typed of ['constructor', '__proto__', 'toString'])
      assert.deepEqual(parseCardNumber(typed), { fault: 'empty' });
  });
});

describe('expiry dates', () => {
  const at = (text: string, now = NOW) => parseCardExpiry(text, now);

  test('a date is read in every form in which people write it.', () => {
    for (const typed of [
      '09/28',
      '9/28',
      '0928',
      '09-28',
      '09.28',
      '09 28',
      '09 / 28',
      '09/2028',
      '9/2028',
      '092028',
      ' 09/28 ',
      '0９/2８',
      '٠٩/٢٨',
      '०९/२८',
      '09 - 2028',
      '09\u00a0/\u00a028',
      '09／28',
    ])
      assert.deepEqual(at(typed), { kept: null }, typed);
  });

  test('what is no date is told from a month that is none.', () => {
    for (const typed of [
      '',
      '9',
      '928',
      '09/',
      '/28',
      '09/8',
      '09/028',
      '09/1928',
      '09/2128',
      '09/28/01',
      '2028-09',
      'Sep 28',
      '09\\28',
      '-9/28',
      '9/2 8',
      '09//28',
      '009/28',
      '4242 4242 4242 4242',
    ])
      assert.deepEqual(at(typed), { fault: 'form' }, typed);
    for (const typed of ['00/28', '13/28', '99/28', '1328', '0/28'])
      assert.deepEqual(at(typed), { fault: 'month' }, typed);
  });

  test('a card serves until its month has ended everywhere on earth, and not a millisecond longer.', () => {
    for (const [typed, year, month] of [
      ['11/26', 2026, 11],
      ['12/26', 2026, 12],
      ['02/28', 2028, 2],
      ['01/30', 2030, 1],
    ] as const) {
      const end = Date.UTC(year, month, 1, 12);
      assert.deepEqual(at(typed, end - 1), { kept: null }, typed);
      assert.deepEqual(at(typed, end), { fault: 'past' }, typed);
      assert.deepEqual(at(typed, Date.UTC(year, month - 1, 1)), { kept: null }, typed);
    }
    assert.deepEqual(at('12/25'), { fault: 'past' });
    assert.deepEqual(at('01/00'), { fault: 'past' });
  });

  test('a date is at most 20 years ahead.', () => {
    const now = Date.UTC(2026, 10, 23);
    assert.deepEqual(at('11/46', now), { kept: null });
    assert.deepEqual(at('12/46', now), { fault: 'form' });
    assert.deepEqual(at('12/99', now), { fault: 'form' });
    assert.deepEqual(at('12/46', Date.UTC(2026, 11, 1)), { kept: null });
  });
});

describe('masks', () => {
  const table = (mask: (text: string) => string, rows: [string, string][]) => {
    for (const [whole, masked] of rows) assert.equal(mask(whole), masked);
  };

  test('of a name its words begin, whole letters each.', () => {
    table(maskName, [
      ['Ada Lovelace', 'A••• L•••'],
      ['Ada', 'A•••'],
      ['e\u0301mile', 'e\u0301•••'],
      ['李 小龙', '李••• 小•••'],
      ['𝒳y', '𝒳•••'],
      ['a  b\u00a0c', 'a••• b••• c•••'],
    ]);
  });

  test('of an e-mail address its first letter and its host stay.', () => {
    table(maskEmail, [
      ['ada@example.org', 'a•••@example.org'],
      ['a@b.c', 'a•••@b.c'],
      ['𝒳y@b.c', '𝒳•••@b.c'],
    ]);
  });

  test('of a phone number its last two digits stay, of a short one fewer.', () => {
    table(maskPhone, [
      ['+49 170 1234567', '••• 67'],
      ['(1) 2-3', '••• 3'],
      ['٠١٢٣', '••• ٣'],
      ['12', '•••'],
    ]);
  });

  test('of an account its country and its last four characters stay.', () => {
    table(maskIban, [
      ['DE89 3704 0044 0532 0130 00', 'DE•• •••• 3000'],
      ['gb82west12345698765432', 'GB•• •••• 5432'],
      ['12-34-56 12345678', '•••• •••• 5678'],
      ['1234', '•••• •••• 4'],
    ]);
  });

  test('of a reference its last four characters stay, and never more than a third.', () => {
    table(FIELDS['customer-reference'].mask, [
      ['Receipt 17', '••• 17'],
      ['A-2026-000123', '•••0123'],
      ['ab', '•••'],
      ['abcd😀efg', '•••fg'],
    ]);
  });

  test('no mask shows more than half of what it masks.', () => {
    for (const name of NAMES) {
      const { mask }: Field = FIELDS[name];
      if (!mask) continue;
      for (const whole of ['abcdefgh', 'ada.lovelace@x.yz', '+44 20 7946 0958', 'GB82WEST12345698765432'])
        if ('kept' in read(name, whole) && name !== 'payer-email')
          assert.ok(
            mask(whole).replace(/[•\s]/g, '').length * 2 <= whole.length + 1,
            `${name}: ${mask(whole)}`,
          );
    }
  });
});

test('an account number is an IBAN with its check digits, or letters and digits that look like none.', () => {
  for (const [text, fits] of [
    ['DE89370400440532013000', true],
    ['DE89 3704 0044 0532 0130 00', true],
    ['DE88370400440532013000', false],
    ['CH9300762011623852957', true],
    ['1234', true],
    ['123', true],
    ['123456/0800', true],
    ['', false],
    ['....', false],
    ['Ω1234', false],
    [`1${'A'.repeat(33)}`, true],
    [`1${'A'.repeat(34)}`, false],
    ['Ann Lee', false],
    ['__proto__', false],
  ] as const)
    assert.equal('kept' in read('transfer-iban', text), fits, text);
});

test('an IBAN is taken in groups of four, also where some of its groups would make a card number.', () => {
  const random = new SeededRandom();
  const digits = (count: number) => Array.from({ length: count }, () => random.between(0, 9)).join('');
  for (let i = 0; i < 1000; i++)
    for (const [countryCode, bban] of [
      ['DE', `${random.pick(['4', '51', '37', '6011'])}${digits(18)}`.slice(0, 18)],
      ['AT', digits(16)],
    ] as const) {
      const iban = composeIBAN({ countryCode, bban })!;
      const typed = iban.replace(/(.{4})(?=.)/g, '$1 ');
      assert.deepEqual(read('transfer-iban', typed), { kept: typed }, `seed ${random.seed}`);
      assert.deepEqual(read('transfer-iban', iban), { kept: iban }, `seed ${random.seed}`);
    }
});

test('a telephone number with its country is none of a card, whatever its digits.', () => {
  for (const typed of ['+62 812 3456 78901', '0062 812 3456 78901', '+4242 4242 4242 424'])
    assert.deepEqual(read('payer-phone', typed), { kept: typed });
  const arabic = '+٤٢٤٢ ٤٢٤٢ ٤٢٤٢ ٤٢٤';
  assert.deepEqual(read('payer-phone', arabic), { kept: '+4242 4242 4242 424' });
  for (const typed of [
    '4242 4242 4242 4242',
    '٤٢٤٢ ٤٢٤٢ ٤٢٤٢ ٤٢٤٢',
    '4242 4242 4242 4242²',
    '4242 4242 4242 424②',
  ])
    assert.deepEqual(read('payer-phone', typed), { fault: 'card' }, typed);
});

test('a card number is seen whatever stands between its groups, and before anything else that is wrong.', () => {
  for (const joint of [',', '_', '|', ':', ', ', ' - '])
    assert.deepEqual(read('note', ['4242', '4242', '4242', '4242'].join(joint)), { fault: 'card' }, joint);
  assert.deepEqual(read('payer-phone', `(4242) (4242) (4242) (4242)${' ('.repeat(40)}`), { fault: 'card' });
});

test('a reference of sixteen digits is no card unless its check digit is right.', () => {
  assert.deepEqual(read('customer-reference', '6212345678901233'), { kept: '6212345678901233' });
});
