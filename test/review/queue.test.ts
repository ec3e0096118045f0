// Finding payments to review and everything else: the queue, the figures, the facts beside a payment, and the search over all payments.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { timeOrderedId } from '../../src/lib/ids.ts';
import { DAY_MS, HOUR_MS, lastDays, MINUTE_MS } from '../../src/lib/time.ts';
import { asOf, type Payment, STATUSES, PAYMENTS as TABLE } from '../../src/payments/payment.ts';
import { ReviewFigures } from '../../src/review/figures.ts';
import { type SearchFilter, searchPayments } from '../../src/review/search-queries.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import type { Client } from '../support/console.ts';
import { isWhole } from '../support/extent.ts';
import { decide, submit } from '../support/payments.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES, openPatiently, type Store, temporaryStore } from '../support/stores.ts';
import { approveAs, listed, people, rejectAs, sharedReview, waiting } from './pages/review-stage.ts';

for (const engine of ENGINES) {
  describe(`what waits for review on ${engine}`, () => {
    const harness = sharedReview('', false, engine);
    let who: Awaited<ReturnType<typeof people>>;
    const signedIn = async () => {
      who = await people(harness);
    };
    before(async () => {
      const { clock } = harness;
      clock.advance(DAY_MS - (clock.now() % DAY_MS)); // so that what is decided "today" is so some minutes later too
      await signedIn();
    });
    const ids = async (client: Client, query = '') => listed((await client.get(`/queue${query}`)).text);

    test('the oldest stand first, filters narrow them, and a decision leads to the next that nobody else has.', async () => {
      const first = await waiting(harness, 'transfer', { amount: 10, merchant_reference: 'FIRST' });
      harness.clock.advance(2 * HOUR_MS);
      await signedIn(); // sessions end by themselves
      const second = await waiting(harness, 'cash', { amount: 20, currency: 'USD' });
      const third = await waiting(harness, 'transfer', { amount: 300 });
      const page = await who.ana.get('/queue');
      assert.deepEqual(listed(page.text), [first, second, third]);
      assert.match(page.title, /^To review \(3\) –/);
      assert.match(page.body, /Ada Lovelace[^€]*Test ?€10\.00 ?Corner Shop · FIRST ?2 h/);
      const home = await who.ana.get('/');
      assert.match(home.body, /To review 3 €310\.00 in 2 test.* ?\$20\.00 USD in 1 test/);
      for (const typed of ['20,00', '２０．００', '٢٠٫٠٠', '২০'])
        assert.deepEqual(await ids(who.ana, `?minimum=${encodeURIComponent(typed)}`), [second, third], typed);
      for (const nothing of ['0', '٠']) {
        const { title } = await who.ana.get(`/queue?minimum=${encodeURIComponent(nothing)}`);
        assert.doesNotMatch(title, /^Error/);
      }
      await who.bob.send(await who.bob.get(`/payments/${second}`), {}, 'Claim');
      for (const [client, query, found] of [
        [who.ana, 'merchant=mer_cash', [second]],
        [who.ana, 'method=bank_transfer', [first, third]],
        [who.ana, 'currency=USD', [second]],
        [who.ana, 'age=1h', [first]],
        [who.ana, 'mode=live', []],
        [who.ana, 'claimed=others', [second]],
        [who.bob, 'claimed=mine', [second]],
        [who.ana, 'claimed=available', [first, third]],
      ] as const)
        assert.deepEqual(await ids(client, `?${query}`), found, query);
      assert.match(
        (await who.ana.get('/queue')).body,
        /All 3 ?Money seen 0 ?Mine 0 ?Not claimed 2.*Bob has/s,
      );
      assert.match(
        (await who.bob.get('/queue?claimed=mine')).body,
        /All 3 ?Money seen 0 ?Mine 1 ?Not claimed 3/,
      );
      const none = await who.ana.get('/queue?mode=live');
      assert.match(none.body, /matches these filters\./);
      const wrong = await who.ana.get('/queue?minimum=abc');
      assert.match(wrong.title, /^Error: /);
      assert.match(wrong.text, /aria-describedby="filter-minimum-error"/);
      for (const strange of ['?age=constructor', '?claimed=constructor', '?after=x', '?open=pay_x'])
        assert.equal((await who.ana.get(`/queue${strange}`)).status, 200, strange);
      const next = (await approveAs(who.ana, first)).url.searchParams;
      assert.equal(next.get('open'), third, 'what Bob has is passed over');
      harness.clock.advance(10 * MINUTE_MS);
      assert.deepEqual(await ids(who.ana, '?claimed=available'), [second, third], 'a claim ends');
      assert.equal(
        (await rejectAs(who.ana, third)).url.searchParams.get('open'),
        second,
        'round to the first',
      );
    });

    test('decisions are counted by day, and a day that is over is remembered.', async () => {
      const days = async () => {
        const { text } = await who.ana.get('/');
        const row = /<tr><th scope="row">.*?<td class="number">(\d+)<\/td><td class="number">(\d+)<\/td>/gs;
        return [...text.matchAll(row)].map(([, approved, rejected]) => `${approved} ${rejected}`);
      };
      const before = await days();
      assert.equal(before.length, 30);
      const at = before.indexOf('1 1');
      assert.deepEqual(
        before.filter((day) => day !== '0 0'),
        ['1 1'],
      );
      harness.clock.advance(2 * DAY_MS);
      await signedIn();
      for (let look = 0; look < 2; look++) {
        const later = await days();
        assert.equal(Math.abs(later.indexOf('1 1') - at), 2);
        assert.equal(later.filter((day) => day !== '0 0').length, 1);
      }
    });

    test('the queue is counted once for all who ask at once, and again when another node may have changed it', async () => {
      const { database, journal } = harness.service;
      let asked = 0;
      const counting = Object.assign(Object.create(database), {
        query: (sql: string, ...values: never[]) => {
          asked++;
          return database.query(sql, ...values);
        },
      });
      const parts = { database: counting, journal, clock: harness.clock, timeZone: 'UTC' };
      const figures = new ReviewFigures(parts);
      await Promise.all([figures.waiting(), figures.waiting(), figures.waiting()]);
      assert.equal(asked, 1);
      harness.clock.advance(2000);
      await figures.waiting();
      assert.equal(asked, 2);
    });

    test('facts say what they rest on', async () => {
      const shop = { merchant_reference: 'TWICE', customer: { name: 'Ada King', email: 'ada@example.org' } };
      let usual = '';
      for (let i = 0; i < 5; i++) {
        usual = (await harness.create({ amount: 10 + i, ...shop })).id;
        await submit(harness, usual, { payer_name: 'King  ada' });
        await decide(harness, usual, i === 0 ? 'reject' : 'approve');
      }
      const { id } = await harness.create({ amount: 120, ...shop });
      await submit(harness, id, { payer_name: 'Eve' });
      const { body, text } = await who.ana.get(`/payments/${id}`);
      for (const fact of [
        /Look: The names differ: customer “Eve”, order “Ada King”\./,
        /Look: 10 times what .* usually asks\./,
        /Look: 5 other payments use this order number[^.]*, 4 of them neither/,
        /Look: \d+ other payments use this email address, \d+ from the last 24 hours/,
      ])
        assert.match(body, fact);
      const facts = [...text.matchAll(/<li class="(?:worth|plain)">.*?<\/li>/gs)];
      assert.ok(facts.length >= 4);
      for (const [fact] of facts) assert.match(fact, /<p class="hint">[A-Z][^<]*\.<\/p>/);
      assert.doesNotMatch((await who.ana.get(`/payments/${usual}`)).body, /The names differ/);
    });
  });
}

const NOW = Date.UTC(2026, 10, 20);
const PAYMENTS = 120;
const WINDOW = 10;
const MERCHANTS = ['mer_a', 'mer_b', 'mer_c'];
const EMAILS = ['ada@example.org', 'zoe@example.org'];
const REFERENCES = ['R-1', 'R-2'];
const NAMES = ['ADA KING', 'ERIKA MUSTERMANN'];
const ACCOUNTS = ['DE1', 'DE2'];
const AMOUNTS = [1000, 2000];
const CURRENCIES = ['EUR', 'USD'];
const MODES = ['live', 'test'] as const;

/** A row that differs from others in what a search looks at; several were created at once, and some expire at `NOW` and beside it. */
function someRow(random: SeededRandom): Payment {
  const created_at = NOW - 1000 + random.between(0, 40);
  const email = random.chance(0.5) ? random.pick(EMAILS) : null;
  const blank = Object.fromEntries(TABLE.columns.map((name) => [name, null])) as Record<keyof Payment, null>;
  return {
    ...blank,
    pay_by: '2026-11-20',
    id: timeOrderedId('pay_', created_at),
    merchant_id: random.pick(MERCHANTS),
    mode: random.pick(MODES),
    amount_minor: random.pick(AMOUNTS),
    currency: random.pick(CURRENCIES),
    status: random.chance(0.5) ? 'pending' : random.pick(STATUSES),
    merchant_name: 'Shop',
    merchant_reference: random.chance(0.5) ? random.pick(REFERENCES) : null,
    salt: 'salt',
    version: 1,
    created_at,
    updated_at: created_at,
    expires_at: NOW + random.between(-1, 1),
    payer_email: email,
    payer_name: random.chance(0.5) ? random.pick(NAMES) : null,
    payer_account: random.chance(0.5) ? random.pick(ACCOUNTS) : null,
    bank_reference: random.chance(0.5) ? random.pick(ACCOUNTS) : null,
  };
}

/** More than a window of payments have these fields, whatever the seed. A search for fewer looks at all of them at once. */
const MANY = { merchant_reference: REFERENCES[0]!, status: 'pending', expires_at: NOW + 1 } as const;

function someFilter(random: SeededRandom): SearchFilter {
  const perhaps = <T>(list: readonly T[], probability = 0.3) =>
    random.chance(probability) ? random.pick(list) : undefined;
  const moment = () => (random.chance(0.2) ? NOW - 1000 + random.between(-1, 41) : undefined);
  return {
    reference: perhaps(REFERENCES, 0.2),
    payer: perhaps(NAMES, 0.1),
    account: perhaps(ACCOUNTS, 0.1),
    bank_reference: perhaps(ACCOUNTS, 0.1),
    email: perhaps([...EMAILS, 'Ada@Example.ORG', 'nobody@example.org'], 0.2),
    amount_minor: perhaps([...AMOUNTS, 3000]),
    currency: perhaps([...CURRENCIES, 'JPY']),
    status: perhaps(STATUSES, 0.7),
    merchant_id: perhaps([...MERCHANTS, 'mer_none']),
    mode: perhaps(MODES),
    from: moment(),
    to: moment(),
  };
}

/** What a search is to find, by looking at every row. */
function sought(rows: readonly Payment[], filter: SearchFilter, before: string | undefined): string[] {
  const is = <T>(value: T, asked: T | undefined) => asked === undefined || value === asked;
  return rows
    .map((row) => asOf(row, NOW))
    .filter(
      (row) =>
        (before === undefined || row.id < before) &&
        (filter.ids === undefined || filter.ids.includes(row.id)) &&
        is(row.payer_name, filter.payer) &&
        is(row.payer_account, filter.account) &&
        is(row.bank_reference, filter.bank_reference) &&
        is(row.merchant_reference, filter.reference) &&
        is(row.payer_email, filter.email?.toLowerCase()) &&
        is(row.amount_minor, filter.amount_minor) &&
        (filter.amount_minor === undefined || is(row.currency, filter.currency)) &&
        is(row.status, filter.status) &&
        is(row.merchant_id, filter.merchant_id) &&
        is(row.mode, filter.mode) &&
        (filter.from === undefined || row.created_at >= filter.from) &&
        (filter.to === undefined || row.created_at < filter.to),
    )
    .map(({ id }) => id)
    .sort()
    .reverse();
}

for (const engine of ENGINES) {
  const random = new SeededRandom();
  describe(`a search in windows on ${engine}, seed ${random.seed}`, () => {
    let store: Store;
    let database: Database;
    const rows = Array.from({ length: PAYMENTS }, (_, i) => ({
      ...someRow(random),
      ...(i <= WINDOW && MANY),
    }));
    before(async () => {
      store = await temporaryStore(engine);
      database = await openPatiently(store);
      await migrate(database);
      await database.transaction((transaction) => transaction.insert('payments', rows));
    });
    after(async () => {
      await database.close();
      await store.drop();
    });

    test('it finds what looking at every payment finds, in the same order, however wide its windows', async () => {
      for (let i = 0; i < (isWhole && engine === 'sqlite' ? 600 : 150); i++) {
        const filter = someFilter(random);
        if (random.chance(0.05)) filter.ids = [random.pick(rows).id, random.pick(rows).id];
        const before = random.chance(0.3) ? random.pick(rows).id : undefined;
        const limit = random.between(1, 30);
        const window = random.pick([1, 2, 5, 30, 2 * PAYMENTS]);
        const found = await searchPayments(database, filter, before, limit, NOW, window);
        const told = JSON.stringify({ filter, before, limit, window });
        assert.deepEqual(
          found.map(({ id }) => id),
          sought(rows, filter, before).slice(0, limit),
          told,
        );
      }
    });

    test('a page behind a page leaves nothing out and shows nothing twice', async () => {
      const amount_minor = AMOUNTS[0];
      for (const filter of [
        { status: 'pending' },
        { status: 'cancelled' },
        { mode: 'live' },
        { amount_minor, status: 'pending' },
        { amount_minor, status: 'cancelled' },
      ] as const) {
        const all: string[] = [];
        for (let before: string | undefined; ; before = all.at(-1)) {
          const page = await searchPayments(database, filter, before, 4, NOW, 3);
          all.push(...page.map(({ id }) => id));
          if (page.length < 4) break;
        }
        assert.deepEqual(all, sought(rows, filter, undefined));
      }
    });

    test('what no index serves is read a window at a time, and others have their turn between two', async () => {
      /** What is looked for, and what is looked through. */
      for (const [filter, through] of [
        [{ amount_minor: AMOUNTS[0], currency: 'JPY' }, { amount_minor: AMOUNTS[0] }],
        [{ amount_minor: AMOUNTS[0], merchant_id: 'mer_none' }, { amount_minor: AMOUNTS[0] }],
        [{ mode: 'live', from: NOW - 990 }, { from: NOW - 990 }],
        [{ reference: REFERENCES[0], status: 'pending' }, {}],
      ] as const) {
        const driven = sought(rows, through, undefined);
        let turns = 0;
        let turn = setImmediate(function next() {
          turns++;
          turn = setImmediate(next);
        });
        const ranges: (readonly [low: string, high: string])[] = [];
        const reader: Pick<Database, 'query'> = {
          query(sql, ...values) {
            const [low, high] = values.map(String).filter((value) => /^(pay_.*|~)?$/.test(value));
            if (sql.includes('as branch0')) ranges.push([low!, high!]);
            return database.query(sql, ...values);
          },
        };
        const begun = turns;
        const found = await searchPayments(reader, filter, undefined, PAYMENTS, NOW, WINDOW);
        clearImmediate(turn);
        assert.equal(found.length, sought(rows, filter, undefined).length);
        const most = Math.max(
          ...ranges.map(([low, high]) => driven.filter((id) => id >= low && id < high).length),
        );
        assert.equal(most, WINDOW, JSON.stringify(filter));
        assert.ok(ranges.length >= driven.length / WINDOW, `${ranges.length} windows`);
        assert.ok(turns - begun >= ranges.length - 1, `${turns - begun} turns, ${ranges.length} windows`);
      }
    });
  });
}

test('days begin when their time zone says, summer time or not', () => {
  const [before, changed, after] = lastDays('Europe/Berlin', Date.UTC(2026, 2, 30, 12), 3);
  assert.deepEqual([before!.date, changed!.date, after!.date], ['2026-03-28', '2026-03-29', '2026-03-30']);
  assert.equal(changed!.start, Date.UTC(2026, 2, 28, 23));
  assert.equal(after!.start - changed!.start, 23 * HOUR_MS);
});
