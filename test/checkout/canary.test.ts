// Card numbers and personal data typed in every place of checkout, and then looked for in everything that is kept or told.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SHOWN_TEST_CARD, TEST_CARDS } from '../../src/payments/methods/fields.ts';
import { FROM_OUR_PAGE, open, TYPED } from '../support/customer.ts';
import { isWhole } from '../support/extent.ts';
import { sharedHarness } from '../support/harness.ts';
import { createAt, KEYS, type OfferName, SHOP } from '../support/shop.ts';
import { bytesOf } from '../support/stores.ts';

const WITHOUT_LIMITS = 'checkout_forms_per_payment: 1000000\ncheckout_forms_per_address: 1000000\n';
/** Whether checkout takes the number of a test card. */
const isTaken = (card?: { outcome: string }) =>
  card !== undefined && !['refused', 'expired'].includes(card.outcome);
const METHODS = Object.keys(TYPED) as (keyof typeof TYPED)[];

/** The published test numbers, and numbers that real brands give out for tests of other software. */
const NUMBERS = [
  ...Object.keys(TEST_CARDS),
  '4111111111111111',
  '4000000000000000006',
  '378282246310005',
  '6011111111111117',
  '30569309025904',
  '3530111333300000',
  '6200000000000005',
  '5105105105105100',
  '2223003122003222',
];

const grouped = (number: string, joint: string) => number.replace(/(.{4})(?=.)/g, `$1${joint}`);
const inDigits = (number: string, zero: number) =>
  number.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
const asTyped = (number: string) => [
  number,
  grouped(number, ' '),
  grouped(number, '-'),
  grouped(number, '\u00a0'),
  grouped(number, '.'),
  grouped(number, ' – '),
  grouped(number, '\u200b'),
  inDigits(number, 0xff10),
  grouped(inDigits(number, 0xff10), '\u3000'),
  inDigits(number, 0x0660),
  `My card: ${grouped(number, ' ')}.`,
];

const WRITINGS = asTyped('').length;

/** What nobody may read anywhere: a number as it was typed and in the ways that programs turn text about. */
function disguises(number: string): string[] {
  const typed = asTyped(number);
  const turned = [number, grouped(number, ' '), grouped(number, '-')];
  return [
    ...typed,
    [...number].reverse().join(''),
    ...turned.map((text) => Buffer.from(text).toString('hex')),
    ...turned.flatMap((text) => inBase64(text)),
    ...typed.map((text) => encodeURIComponent(text)),
    ...typed.map((text) => new URLSearchParams({ x: text }).toString().slice(2)),
  ];
}

/** What base64 makes of a text, wherever within a longer one it stands. */
const inBase64 = (text: string) =>
  [0, 1, 2].map((offset) => {
    const whole = Buffer.from('x'.repeat(offset) + text).toString('base64');
    return whole.replace(/=+$/, '').slice(Math.ceil((offset * 4) / 3), -2);
  });

const FORBIDDEN = [...new Set(NUMBERS.flatMap(disguises))];

const PERSON = {
  'payer-name': 'Canary Quillfeather',
  'payer-email': 'canary.quillfeather@example.org',
  'payer-phone': '+49 30 5550 7391 56',
  'transfer-name': 'Canary Featherquill',
  'transfer-iban': 'GB82 WEST 1234 5698 7654 32',
  'customer-reference': 'canary-reference-7391',
  note: 'canary note 7391',
};
const EXPIRY = '11/2039';

describe('canaries in checkout', () => {
  const harness = sharedHarness('sqlite', { configuration: SHOP + WITHOUT_LIMITS });
  /** Every page that came back, with what was typed for it. */
  const pages: { what: string; text: string }[] = [];

  async function sendTo(
    path: string,
    values: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; text: string }> {
    const response = await fetch(harness.origin + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...FROM_OUR_PAGE, ...headers },
      body: new URLSearchParams(values).toString(),
    });
    return { status: response.status, text: await response.text() };
  }

  async function formOf(offer: OfferName) {
    const { id } = await createAt(harness, offer);
    const { action, values } = (await open(harness, id)).forms[0]!;
    return { id, path: action.pathname + action.search, values };
  }

  /** Fails where a page repeats a card number, the one that checkout itself names excepted. */
  function assertUnrepeated(what: string, text: string): void {
    const rest = text.replaceAll(`<bdi>${SHOWN_TEST_CARD}</bdi>`, '');
    for (const canary of FORBIDDEN)
      if (rest.includes(canary)) assert.fail(`${what}: a page repeats ${canary}`);
  }

  test('a card number is refused in every field but its own, and in its own where it is no test number.', async () => {
    // In `npm test` each number in each field in one of its writings, and the next in the next.
    let turn = 0;
    for (const offer of METHODS) {
      const { path, values } = await formOf(offer);
      for (const name of Object.keys(TYPED[offer]))
        for (const number of NUMBERS)
          for (const typed of isWhole ? asTyped(number) : asTyped(number).slice(turn, ++turn)) {
            turn %= WRITINGS;
            const test = TEST_CARDS[number as keyof typeof TEST_CARDS];
            if (name === 'card-number' && isTaken(test)) continue;
            const { status, text } = await sendTo(path, { ...values, ...TYPED[offer], [name]: typed });
            assert.equal(status, 422, `${typed} as ${name}`);
            pages.push({ what: `${typed} as ${name}`, text });
          }
    }
    assert.ok(pages.length > (isWhole ? 1500 : 150), `${pages.length} pages`);
  });

  test('a test number is taken in its own field, however it is written.', async () => {
    let turn = 0;
    for (const [number, card] of Object.entries(TEST_CARDS)) {
      if (!isTaken(card)) continue;
      const writings = isWhole ? asTyped(number) : asTyped(number).slice(turn, turn + 2);
      turn = (turn + 2) % WRITINGS;
      for (const typed of writings) {
        const { path, values, id } = await formOf('card');
        const sent = { 'card-number': typed, 'card-expiry': EXPIRY };
        const { status, text } = await sendTo(path, { ...values, ...TYPED.card, ...sent });
        assert.equal(status, 303, `${typed}: ${text}`);
        pages.push({ what: typed, text: (await open(harness, id)).text });
      }
    }
  });

  test('a number that a field takes as one is judged as one, whatever stands between its digits.', async () => {
    for (const [offer, name, joints] of [
      [
        'details',
        'payer-phone',
        [
          ['(', ')', '('],
          ['+', '+', '+'],
          [' (', ') ', '-'],
        ],
      ],
      [
        'transfer',
        'transfer-iban',
        [
          ['-', '.', '-'],
          ['.', ' ', '.'],
          [' ', '-.', '/'],
        ],
      ],
    ] as const)
      for (const joint of joints) {
        const { path, values } = await formOf(offer);
        let typed = '';
        for (const [index, group] of ['4111', '1111', '1111', '1111'].entries())
          typed += group + (joint[index] ?? '');
        const { status } = await sendTo(path, { ...values, ...TYPED[offer], [name]: typed });
        assert.equal(status, 422, `${typed} as ${name}`);
      }
  });

  test('no page repeats a card number that has no other fault.', () => {
    // No canary has a line end, and most lines stand on every page.
    const lines = new Map(pages.flatMap(({ what, text }) => text.split('\n').map((line) => [line, what])));
    for (const [line, what] of lines) assertUnrepeated(what, line);
  });

  test('no page repeats a card number within text that has another fault besides.', async () => {
    for (const offer of METHODS) {
      const { path, values } = await formOf(offer);
      for (const name of Object.keys(TYPED[offer]))
        for (const typed of [
          `${'x'.repeat(600)} ${SHOWN_TEST_CARD}`,
          `${SHOWN_TEST_CARD} ${'x'.repeat(600)}`,
          `${SHOWN_TEST_CARD}\u0007`,
          `\u202e4111111111111111`,
          `4111111111111111\ufffe\u0000`,
        ]) {
          const { status, text } = await sendTo(path, { ...values, ...TYPED[offer], [name]: typed });
          if (status !== 303) assertUnrepeated(`${JSON.stringify(typed.slice(-40))} as ${name}`, text);
        }
    }
  });

  test('no page repeats a card number that stands in its address or in a header.', async () => {
    const { id, values } = await formOf('all');
    for (const typed of ['4111111111111111', SHOWN_TEST_CARD, inDigits('4111111111111111', 0x0660)]) {
      const latin = typed.replace(/[^ -~]/g, '') || '4111111111111111';
      const headers = {
        cookie: `counterfoil_theme=${latin}; card=${latin}`,
        'accept-language': latin,
        'user-agent': latin,
        referer: `https://shop.example/?card=${encodeURIComponent(typed)}`,
        'x-forwarded-for': latin,
        'x-request-id': latin,
      };
      for (const name of ['lang', 'method', 'view', 'edit', 'theme', 'card', typed]) {
        const path = `/payment.php?${new URLSearchParams({ payment_id: id, [name]: typed })}`;
        const page = await fetch(harness.origin + path, { headers, redirect: 'manual' });
        assertUnrepeated(`${name}=${typed}`, await page.text());
        const answer = await sendTo(path, values, headers);
        assertUnrepeated(`${name}=${typed}, a form`, answer.text);
        const wrong = await sendTo(path, { ...values, token: typed, action: typed }, headers);
        assertUnrepeated(`${name}=${typed}, a forged form`, wrong.text);
      }
      const asId = `/payment.php?${new URLSearchParams({ payment_id: typed })}`;
      assertUnrepeated('payment_id', await (await fetch(harness.origin + asId, { headers })).text());
      for (const type of ['application/x-www-form-urlencoded', 'application/json', 'text/plain']) {
        const answer = await sendTo(asId, { card: typed }, { ...headers, 'content-type': type });
        assertUnrepeated(`payment_id in a form of ${type}`, answer.text);
      }
    }
  });

  test('what customers say of themselves is taken, with and without faults.', async () => {
    for (const offer of METHODS) {
      const { path, values } = await formOf(offer);
      const fields = Object.keys(TYPED[offer]).filter((name) => name in PERSON);
      const typed = Object.fromEntries(fields.map((name) => [name, PERSON[name as keyof typeof PERSON]]));
      for (const name of fields) {
        const wrong = { ...TYPED[offer], ...typed, [name]: `${typed[name]}\u0000${'x'.repeat(300)}` };
        assert.equal((await sendTo(path, { ...values, ...wrong })).status, 422, name);
      }
      const query = Object.entries(typed).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
      const sent = { ...values, ...TYPED[offer], ...typed };
      const forged = await sendTo(path + query.join(''), { ...sent, token: PERSON.note });
      assert.equal(forged.status, 403);
      assert.equal((await sendTo(path + query.join(''), sent)).status, 303);
    }
  });

  /** The rows of every table, or of some, as text. */
  async function rowsOf(...names: string[]): Promise<string> {
    const { database } = harness.service;
    const sql = "select name from sqlite_schema where type = 'table'";
    const tables =
      names.length > 0 ? names : (await database.query<{ name: string }>(sql)).map(({ name }) => name);
    let text = '';
    for (const table of tables)
      for (const row of await database.query(`select * from ${table}`)) text += `${JSON.stringify(row)}\n`;
    return text;
  }

  /** All rows, and every byte of every file, the write-ahead log among them. */
  async function everything(): Promise<string> {
    const { storage } = harness.store;
    return Buffer.from(await rowsOf()).toString('latin1') + bytesOf(storage);
  }

  /** `bytes` hold UTF-8, a character a byte. */
  function assertNone(bytes: string, canaries: readonly string[]): void {
    for (const canary of canaries) {
      const found = bytes.indexOf(Buffer.from(canary).toString('latin1'));
      if (found !== -1) assert.fail(`${canary} in: ${bytes.slice(Math.max(0, found - 200), found + 80)}`);
    }
  }
  const asBytes = (text: string) => Buffer.from(text).toString('latin1');

  test('the store holds what the reviewer needs, so that looking there means something.', async () => {
    const text = await everything();
    for (const kept of [PERSON.note, PERSON['payer-email'], PERSON['transfer-iban'], '"last4":"4242"'])
      assert.ok(text.includes(kept) || text.includes(kept.replaceAll('"', '\\"')), kept);
    assert.ok(readFileSync(join(harness.store.storage, 'counterfoil.sqlite-wal')).includes(PERSON.note));
    assert.ok(harness.logged.length > pages.length);
  });

  test('no card number stands in the store, in no disguise; nor what else stands on a card.', async () => {
    assertNone(await everything(), [...FORBIDDEN, EXPIRY]);
  });

  test('no card number and nothing whole of a person comes out of the API.', async () => {
    let text = '';
    for (const key of Object.values(KEYS)) {
      let cursor = '';
      do {
        const { json, text: more } = await harness.request(`/v1/payments?limit=100${cursor}`, { key });
        text += more;
        cursor = json.next_cursor ? `&cursor=${encodeURIComponent(json.next_cursor)}` : '';
      } while (cursor !== '');
    }
    assert.ok(text.includes('c•••@example.org'));
    const { note, ...masked } = PERSON;
    assertNone(asBytes(text), [...FORBIDDEN, ...Object.values(masked), EXPIRY]);
  });

  test('the history holds no card number and nothing of a person.', async () => {
    const history = asBytes(await rowsOf('audit_entries', 'seals', 'journal_head'));
    assertNone(history, [...FORBIDDEN, ...Object.values(PERSON), EXPIRY]);
  });

  test('the log holds no card number and nothing of a person.', () => {
    const people = Object.values(PERSON).flatMap((value) => [value, encodeURIComponent(value)]);
    assertNone(asBytes(harness.logged.join('')), [...FORBIDDEN, ...people, EXPIRY]);
  });

  test('the page and the log hold none of it where the store fails in the middle of it.', async () => {
    const { journal } = harness.service;
    await journal.commit((transaction) =>
      transaction.query(
        "create trigger trap before update on payments begin select raise(abort, 'trap'); end",
      ),
    );
    for (const offer of METHODS) {
      const { path, values } = await formOf(offer);
      const begun = harness.logged.length;
      const known = Object.fromEntries(
        Object.entries(PERSON).filter(([name]) => Object.hasOwn(TYPED[offer], name)),
      );
      const { status, text } = await sendTo(path, { ...values, ...TYPED[offer], ...known });
      assert.equal(status, 500);
      assert.match(text, /<h1>/);
      const logged = harness.logged.slice(begun).join('');
      assert.match(logged, /a defect/);
      // Who sent a transfer gets their own words back in the page, to send them once more.
      const shown = offer === 'transfer' ? '' : text;
      assertNone(asBytes(logged + shown), [...FORBIDDEN, ...Object.values(PERSON)]);
    }
  });
});
