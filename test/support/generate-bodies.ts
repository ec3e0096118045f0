// Bodies of payment requests as raw JSON text: fields that hold what they may, what they nearly may, and what they never may.
import fc from 'fast-check';
import { ADDRESSES, AMOUNTS, BODIES, CANARY, CARD_NUMBERS, DEEP_METADATA, TEXTS } from './nasty-values.ts';

/** An id of the right form, and nobody's. */
export const UNKNOWN_ID = `pay_${'0'.repeat(36)}`;

/** One of the values. */
export const from = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
/** Mostly one kind, `times` times as often as the other. */
export const mostly = <T>(common: fc.Arbitrary<T>, rare: fc.Arbitrary<T>, times = 6): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: common, weight: times }, { arbitrary: rare, weight: 1 });

// Text, and how JSON may write it.

const ordinary = fc.oneof(
  fc.string({ unit: from([...'Order 42 naïve ﬁ Ω請求書עבריתहिन्दी👍🏽🇨🇭e\u0301"\\/']), maxLength: 24 }),
  fc.string({ maxLength: 12 }),
  from([
    'Order 1',
    'naïve café',
    '請求書 №７',
    'עברית',
    '👩‍👩‍👧‍👦',
    'A'.repeat(255),
    '\u{1f600}'.repeat(255),
  ]),
);
const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));
/** Text that has broken software elsewhere, or may. */
export const nasty = fc.oneof(
  from(TEXTS),
  fc.string({ unit: codePoint, maxLength: 16 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
    .map((units) => String.fromCharCode(...units)),
  fc
    .tuple(from(TEXTS), fc.integer({ min: 0, max: 1100 }))
    .map(([text, n]) => text.repeat(1 + n / (text.length + 1))),
  fc.tuple(ordinary, from(TEXTS), ordinary).map((parts) => parts.join('')),
);
/** Any text, mostly harmless. */
export const text = mostly(ordinary, nasty);

const escaped = (value: string) =>
  `"${[...value].map((c) => [...Array(c.length).keys()].map((i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')).join('')}"`;

/** A string as JSON: as serialisers write it, all in escapes, or bare between quotes, which is not always JSON. */
const quoted = (value: fc.Arbitrary<string>) =>
  fc
    .tuple(value, fc.integer({ min: 0, max: 19 }))
    .map(([string, way]) =>
      way === 0 ? escaped(string) : way === 1 ? `"${string}"` : JSON.stringify(string),
    );

const decimal = fc
  .tuple(fc.bigInt({ min: 0n, max: 999_999_999_999n }), fc.integer({ min: 0, max: 99 }))
  .map(([whole, cents]) => `${whole}.${String(cents).padStart(2, '0')}`);
const amount = mostly(fc.oneof(decimal, fc.integer({ min: 1, max: 10_000 }).map(String)), from(AMOUNTS));
const anyNumber = fc.oneof(from(AMOUNTS), fc.double({ noNaN: true, noDefaultInfinity: true }).map(String));

const { value: anyJson } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(from(['null', 'true', 'false', '[]', '{}', '""']), anyNumber, quoted(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc.array(fc.tuple(quoted(text), tie('value')), { maxLength: 4 }).map(object),
  ),
}));

function object(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`;
}

// Fields: what each may hold, and what it may not.

const address = mostly(
  fc
    .tuple(from(['https', 'http']), fc.domain(), text)
    .map(([scheme, host, path]) => `${scheme}://${host}/${encodeURIComponent(path.toWellFormed())}`),
  from(ADDRESSES),
);
const email = mostly(fc.emailAddress(), nasty);
const metadata = fc.oneof(
  { arbitrary: fc.array(fc.tuple(quoted(text), anyJson), { maxLength: 5 }).map(object), weight: 12 },
  {
    arbitrary: fc
      .integer({ min: 1, max: 7 })
      .map((depth) => `${'{"a":'.repeat(depth)}"deep"${'}'.repeat(depth)}`),
    weight: 2,
  },
  {
    arbitrary: fc
      .integer({ min: 98, max: 102 })
      .map((names) => object(Array.from({ length: names }, (_, i) => [`"n${i}"`, String(i)] as const))),
    weight: 1,
  },
  {
    arbitrary: fc.integer({ min: 16_370, max: 16_390 }).map((bytes) => `{"a":"${'x'.repeat(bytes - 8)}"}`),
    weight: 1,
  },
  { arbitrary: from(DEEP_METADATA), weight: 1 },
);
const customer = fc
  .tuple(
    fc.option(quoted(text)),
    fc.option(quoted(email)),
    fc.option(quoted(mostly(from(['+41 44 668 18 00', '(0) 1-2-3', '0'.repeat(40)]), nasty))),
    fc.option(fc.tuple(quoted(nasty), anyJson), { freq: 9 }),
  )
  .map(([name, address, phone, extra]) =>
    object([
      ...(name === null ? [] : [['"name"', name] as const]),
      ...(address === null ? [] : [['"email"', address] as const]),
      ...(phone === null ? [] : [['"phone"', phone] as const]),
      ...(extra === null ? [] : [extra]),
    ]),
  );

const OPTIONAL_FIELDS: Record<string, fc.Arbitrary<string>> = {
  currency: quoted(
    mostly(
      from(['USD', 'eur', 'JPY', 'KWD', 'cHf', 'XCG']),
      from(['XXX', 'XAU', 'usdd', 'ﬀ', 'ſek', '', 'EU R']),
    ),
  ),
  merchant_reference: quoted(text),
  description: quoted(
    fc.oneof(
      text,
      fc.tuple(text, text).map((lines) => lines.join('\n\t')),
    ),
  ),
  return_url: quoted(address),
  cancel_url: quoted(address),
  customer,
  metadata,
  expires_in: mostly(
    from(['300', '301', '3600', '15552000', '6e2']),
    from(['299', '15552001', '300.5', '-1', '"300"', '1e99']),
  ),
  status: from(['"approved"', '"pending"', 'null']),
  id: from([`"${UNKNOWN_ID}"`, '1']),
};
const CARD_FIELDS = [
  'card',
  'Card-Number',
  'c_v_v',
  'PAN',
  'expiry',
  'track 1',
  'cardholder',
  '__proto__',
  'constructor',
];

const member = fc.oneof(
  ...Object.entries(OPTIONAL_FIELDS).map(([name, value]) => ({
    arbitrary: value.map((raw) => [`"${name}"`, raw] as const),
    weight: 8,
  })),
  {
    arbitrary: from(Object.keys(OPTIONAL_FIELDS)).chain((name) =>
      anyJson.map((raw) => [`"${name}"`, raw] as const),
    ),
    weight: 2,
  },
  { arbitrary: fc.tuple(quoted(nasty), anyJson), weight: 1 },
  {
    arbitrary: fc
      .tuple(from(CARD_FIELDS), from(CARD_NUMBERS))
      .map(([name, number]) => [`"${name}"`, `"${number}"`] as const),
    weight: 1,
  },
  {
    arbitrary: from(CARD_NUMBERS).map((number) => ['"description"', `"${CANARY} ${number}"`] as const),
    weight: 1,
  },
);

/** A body with a member twice is no JSON to the service, so that most have none. */
const members = fc.uniqueArray(member, { maxLength: 6, selector: ([name]) => name });
const fields = fc
  .tuple(amount, mostly(members, fc.array(member, { maxLength: 6 }), 12), fc.boolean())
  .map(([raw, others, last]) =>
    Buffer.from(object(last ? [...others, ['"amount"', raw]] : [['"amount"', raw], ...others])),
  );
/** Where text stands in a body: all else about these bodies is in order, so that the text alone decides. */
export const BODY_WITH_TEXT: readonly ((json: string) => string)[] = [
  (json) => `{"amount":1,"merchant_reference":${json}}`,
  (json) => `{"amount":1,"description":${json}}`,
  (json) => `{"amount":1,"customer":{"name":${json}}}`,
  (json) => `{"amount":1,"customer":{"phone":${json}}}`,
  (json) => `{"amount":1,"customer":{"email":${json}}}`,
  (json) => `{"amount":1,"return_url":${json}}`,
  (json) => `{"amount":1,"metadata":{"a":${json}}}`,
  (json) => `{"amount":1,"metadata":{${json}:["b"]}}`,
];
const oneFault = fc.oneof(
  fc.tuple(from(BODY_WITH_TEXT), quoted(nasty)).map(([around, json]) => Buffer.from(around(json))),
  fc
    .tuple(from(AMOUNTS), from(['USD', 'JPY']))
    .map(([raw, currency]) => Buffer.from(`{"currency":"${currency}","amount":${raw}}`)),
);
const junk = fc.oneof(
  from(BODIES),
  anyJson.map((raw) => Buffer.from(raw)),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
);

/** A body: many fields, or one that may be at fault, or seldom something that is no request at all. */
export const body: fc.Arbitrary<Buffer> = mostly(mostly(fields, oneFault, 2), junk, 12);
