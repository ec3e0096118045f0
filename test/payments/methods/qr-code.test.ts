// What is drawn can be read again: every scheme's code, the Swiss one with the cross over it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SwissQRCode } from 'swissqrbill/svg';
import { qrPath, type Rectangle } from '../../../src/lib/qr-code.ts';
import { quickPayment } from '../../../src/payments/methods/transfer/quick-pay.ts';
import { swissCross, swissPayload } from '../../../src/payments/methods/transfer/swiss.ts';
import { isWhole } from '../../support/extent.ts';
import { decode } from '../../support/qr-reader.ts';

type Account = Parameters<typeof quickPayment>[0];

const PIXELS = 10; // a unit

/** Paints rectangles onto white, in order. */
function painted(side: number, rectangles: Iterable<Rectangle>): Uint8ClampedArray {
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (const { x, y, width, height, dark } of rectangles)
    for (let row = Math.round(y); row < Math.round(y + height); row++)
      for (let at = Math.round(x); at < Math.round(x + width); at++)
        pixels.fill(dark ? 0 : 255, (row * side + at) * 4, (row * side + at) * 4 + 3);
  return pixels;
}

/** The runs of path data as `qrPath` writes it. */
function runs(path: string): Rectangle[] {
  assert.match(path, /^M\d+ \d+\.5h\d+(m-?\d+ \d+h\d+)+$/);
  let [endX, middle] = [0, 0];
  return [...path.matchAll(/[Mm](-?\d+) ([\d.]+)h(\d+)/g)].map(([, dx, dy, length]) => {
    const x = endX + Number(dx);
    middle += Number(dy);
    endX = x + Number(length);
    return { x, y: middle - 0.5, width: Number(length), height: 1, dark: true };
  });
}

const scaled = (factor: number) => (one: Rectangle) => ({
  ...one,
  x: one.x * factor,
  y: one.y * factor,
  width: one.width * factor,
  height: one.height * factor,
});

function read(payload: string, overlay: (size: number) => Rectangle[] = () => []): string | undefined {
  const { size, path } = qrPath(payload);
  const rectangles = [...runs(path), ...overlay(size)].map(scaled(PIXELS));
  return decode(painted(size * PIXELS, rectangles), size * PIXELS, size * PIXELS)?.data;
}

const address = {
  street: 'Grüezistrasse',
  building: '7a',
  postal_code: '8000',
  city: 'Zürich',
  country: 'CH',
};
const accounts: Record<string, Account> = {
  epc: { holder: 'Bäckerei Süß GmbH', currency: 'EUR', iban: 'DE89 3704 0044 0532 0130 00' },
  swiss: { holder: 'Käserei AG', currency: 'CHF', iban: 'CH58 0079 1123 0008 8901 2', address },
  upi: { holder: 'चाय पॉइंट', currency: 'INR', upi_id: 'chai@okaxis' },
  pix: { holder: 'José da Conceição', currency: 'BRL', pix_key: '+5511987654321', city: 'São Paulo' },
};

for (const [scheme, account] of Object.entries(accounts)) {
  test(`a drawn ${scheme} code reads as its text, whatever payment it is for`, () => {
    const payments = fc.record({
      id: fc.stringMatching(/^pay_[0-9a-hjkmnp-tv-z]{36}$/),
      salt: fc.string(),
      amount_minor: fc.integer({ min: 1, max: 99_999_999_999 }),
      currency: fc.constant(account.currency),
      merchant_reference: fc.constantFrom(null, 'Bestellung 17'),
    });
    fc.assert(
      fc.property(payments, (payment) => {
        const quick = quickPayment(account, payment);
        assert.equal(quick?.scheme, scheme);
        assert.equal(read(quick.payload, scheme === 'swiss' ? swissCross : undefined), quick.payload);
      }),
      { numRuns: isWhole ? 12 : 3 },
    );
  });
}

test('the longest EPC code is drawn within version 13', () => {
  assert.equal(qrPath('é'.repeat(165).padEnd(166, 'x')).size, 69 + 8);
});

test('a Swiss code and its cross say what the swissqrbill package draws', () => {
  const [iban, reference] = ['CH4431999123000889012', '210000000003139471430009017'];
  const drawing = new SwissQRCode({
    creditor: {
      account: iban,
      name: 'Käserei AG',
      address: address.street,
      buildingNumber: address.building,
      zip: address.postal_code,
      city: address.city,
      country: address.country,
    },
    amount: 1949.75,
    currency: 'CHF',
    reference,
    message: 'Bestellung 17',
  }).toString();
  const attribute = (element: string, name: string) =>
    Number(new RegExp(`\\b${name}="([\\d.]+)mm"`).exec(element)?.[1] ?? 0);
  const rectangles = [...drawing.matchAll(/<rect\b[^>]*>/g)].map(([element]) => ({
    x: attribute(element, 'x') + 4,
    y: attribute(element, 'y') + 4,
    width: attribute(element, 'width'),
    height: attribute(element, 'height'),
    dark: !element.includes('white'),
  }));
  assert.ok(rectangles.length > 500, 'the drawing is understood');
  const side = 54 * 16;
  const theirs = decode(painted(side, rectangles.map(scaled(16))), side, side)?.data;
  const payload = swissPayload({
    holder: 'Käserei AG',
    iban,
    address,
    amount_minor: 194975,
    currency: 'CHF',
    reference,
    message: 'Bestellung 17',
  });
  assert.equal(theirs, payload);
  const cross = (list: readonly Rectangle[], unit: number) =>
    list
      .slice(-4)
      .map(({ width, height, dark }) => [(width * unit).toFixed(1), (height * unit).toFixed(1), dark]);
  assert.deepEqual(cross(swissCross(57 + 8), 46 / 57), cross(rectangles, 1));
});

test('the cross lies in the middle of its code, each part within the one before', () => {
  for (const size of [41, 57, 77].map((modules) => modules + 8))
    for (const { x, y, width, height } of swissCross(size)) {
      assert.ok(Math.abs(x + width / 2 - size / 2) < 0.002 && Math.abs(y + height / 2 - size / 2) < 0.002);
      assert.ok(width <= (7 / 46) * size);
    }
});
