// Finding payments to review and everything else: the queue, the search over all payments, the figures, and the facts beside a payment.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { timeOrderedId } from '../../src/lib/ids.ts';
import { DAY_MS, HOUR_MS, lastDays } from '../../src/lib/time.ts';
import {
  creditorReference,
  grouped,
  qrReference,
  shortReference,
} from '../../src/payments/methods/transfer/creditor-reference.ts';
import { asOf, CLAIM_MS, type Payment, STATUSES, PAYMENTS as TABLE } from '../../src/payments/payment.ts';
import { findPayment } from '../../src/payments/queries.ts';
import { claim } from '../../src/review/act.ts';
import { factsOf } from '../../src/review/facts.ts';
import { ReviewFigures } from '../../src/review/figures.ts';
import { findByTransferReference } from '../../src/review/meaning.ts';
import { countQueue, listQueue, nextInQueue, queuePlace } from '../../src/review/queue-queries.ts';
import { type SearchFilter, searchPayments } from '../../src/review/search-queries.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { OTHER_KEY, sharedHarness } from '../support/harness.ts';
import { decide, submit } from '../support/payments.ts';
import { ANA, addReviewers, BEN } from '../support/reviewers.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES, openPatiently, type Store, temporaryStore } from '../support/stores.ts';

for (const engine of ENGINES) {
  describe(`what is found for review on ${engine}`, () => {
    const service = sharedHarness(engine);
    /** Oldest first: all wait, the third is another merchant's and in euros. */
    const waiting: string[] = [];
    let pending: string;
    let due: string;
    let cancelled: string;
    before(async () => {
      await addReviewers(service.service.journal);
      for (const [amount, options] of [
        [10, {}],
        [30, {}],
        [20, { key: OTHER_KEY }],
        [30, {}],
      ] as const) {
        const euros = 'key' in options ? { currency: 'EUR' } : {};
        const { id } = await service.create({ amount, merchant_reference: `R-${amount}`, ...euros }, options);
        await submit(service, id, { payer_name: 'Zoë' });
        waiting.push(id);
        service.clock.advance(1000);
      }
      due = (await service.create({ expires_in: 300 })).id;
      service.clock.advance(301_000);
      pending = (await service.create()).id;
      service.clock.advance(1); // of two of one millisecond none is the newest
      cancelled = (await service.create()).id;
      await service.request(`/v1/payments/${cancelled}/cancel`, { method: 'POST' });
    });

    const now = () => service.clock.now();
    const queue = async (filter = {}, place?: { since: number; id: string }, limit = 10) =>
      (await listQueue(service.service.database, filter, place, limit)).map(({ id }) => waiting.indexOf(id));
    const search = async (filter: object, before?: string, limit = 10) =>
      (await searchPayments(service.service.database, filter, before, limit, now())).map(({ id }) => id);
    const row = async (id: string) => (await findPayment(service.service.database, id))!;

    test('the queue is those that wait longest first, a page at a time', async () => {
      assert.deepEqual(await queue(), [0, 1, 2, 3]);
      assert.deepEqual(await queue({}, undefined, 2), [0, 1]);
      assert.deepEqual(await queue({}, queuePlace(await row(waiting[1]!)), 2), [2, 3]);
    });

    test('the queue narrows by merchant, mode, method, currency, amount and age', async () => {
      assert.deepEqual(await queue({ merchant_id: 'mer_other' }), [2]);
      assert.deepEqual(await queue({ mode: 'live' }), []);
      assert.deepEqual(await queue({ currency: 'USD', minimum_minor: 3000 }), [1, 3]);
      const { submitted_at } = await row(waiting[1]!);
      assert.deepEqual(await queue({ waiting_since: submitted_at }), [0, 1]);
      assert.deepEqual(await queue({ method: 'details' }), [0, 1, 2, 3]);
      assert.deepEqual(await queue({ method: 'bank_transfer' }), []);
      const counted = await countQueue(service.service.database, {});
      assert.equal(counted.count, 4);
      assert.deepEqual(counted.methods, ['details']);
      assert.equal(counted.oldest, (await row(waiting[0]!)).submitted_at);
      assert.deepEqual(
        counted.sums.map((sum) => ({ ...sum })),
        [
          { currency: 'EUR', mode: 'test', count: 1, amount_minor: 2000 },
          { currency: 'USD', mode: 'test', count: 3, amount_minor: 7000 },
        ],
      );
      assert.deepEqual(await countQueue(service.service.database, { currency: 'JPY' }), {
        count: 0,
        oldest: null,
        newest: null,
        sums: [],
        methods: [],
      });
    });

    test('the queue knows whose is whose, and the next passes over what others have', async () => {
      const id = waiting[1]!;
      await service.service.journal.commit((transaction) => claim(transaction, ANA, id, {}), id);
      const of = (is: 'available' | 'mine' | 'others', by = BEN) => ({
        claim: { is, by: by.id, now: now() },
      });
      assert.deepEqual(await queue(of('available')), [0, 2, 3]);
      assert.deepEqual(await queue(of('available', ANA)), [0, 1, 2, 3]);
      assert.deepEqual(await queue(of('mine', ANA)), [1]);
      assert.deepEqual(await queue(of('others')), [1]);
      const next = async (index: number) => {
        const place = queuePlace(await row(waiting[index]!));
        const found = await nextInQueue(service.service.database, place, of('available'));
        return found && waiting.indexOf(found.id);
      };
      assert.equal(await next(0), 2);
      assert.equal(await next(3), 0, 'round to the first');
      const only = { merchant_id: 'mer_other' };
      const place = queuePlace(await row(waiting[2]!));
      assert.equal(await nextInQueue(service.service.database, place, only), undefined);
      service.clock.advance(CLAIM_MS);
      assert.deepEqual(await queue(of('available')), [0, 1, 2, 3]);
    });

    test('all payments are found newest first by everything one may know of them', async () => {
      const [a, b, c, d] = waiting as [string, string, string, string];
      assert.deepEqual(await search({}, undefined, 3), [cancelled, pending, due]);
      assert.deepEqual(await search({}, due), [d, c, b, a]);
      assert.deepEqual(await search({ ids: [b] }), [b]);
      assert.deepEqual(await search({ reference: 'R-30' }), [d, b]);
      assert.deepEqual(await search({ reference: 'R-30', merchant_id: 'mer_other' }), []);
      assert.deepEqual(await search({ email: 'ZOE@example.org' }), [d, c, b, a]);
      assert.deepEqual(await search({ amount_minor: 3000 }), [d, b]);
      assert.deepEqual(await search({ amount_minor: 3000, currency: 'EUR' }), []);
      assert.deepEqual(await search({ merchant_id: 'mer_other' }), [c]);
      assert.deepEqual(await search({ merchant_id: 'mer_other', status: 'approved' }), []);
      assert.deepEqual(await search({ status: 'requires_review', mode: 'test' }), [d, c, b, a]);
      assert.deepEqual(await search({ mode: 'test' }, undefined, 2), [cancelled, pending]);
      assert.deepEqual(await search({ mode: 'live' }), []);
      const { created_at } = await row(c);
      assert.deepEqual(await search({ from: created_at, to: (await row(d)).created_at }), [c]);
    });

    test('a transfer on a bank statement leads to its payment, whichever form its reference has', async () => {
      const { database } = service.service;
      const all = await Promise.all([...waiting, pending, cancelled, due].map(row));
      const begins = new Set(all.map((one) => creditorReference(one).slice(0, 4)));
      for (const id of [waiting[1]!, pending]) {
        const payment = await row(id);
        for (const text of [
          creditorReference(payment),
          shortReference(payment),
          grouped(creditorReference(payment)).toLowerCase(),
          `EREF+${creditorReference(payment)}`,
          `SVWZ+Invoice 7, ${grouped(creditorReference(payment)).toLowerCase()} thank you`,
          qrReference(payment),
          grouped(qrReference(payment)),
          `Gutschrift QRR ${grouped(qrReference(payment))} Erika Muster`,
          `FPI CARTER J ${shortReference(payment)} 20NOV`,
          `SVWZ+Rechnung 7 ${creditorReference(payment).slice(0, 14).toLowerCase()} ABWA+Cafe`,
          grouped(creditorReference(payment).slice(0, 15)),
          `QRR ${grouped(qrReference(payment)).slice(0, 25)}`,
          qrReference(payment).slice(0, 26),
        ])
          assert.deepEqual(await findByTransferReference(database, text), [id], text);
        // Cut so short, it may be that of others of nearly the same moment too.
        const cut = qrReference(payment).slice(0, 16);
        for (const text of [cut, `EREF+${creditorReference(payment).slice(0, 12)}`])
          assert.ok((await findByTransferReference(database, text)).includes(id), text);
        assert.deepEqual(await findByTransferReference(database, cut.slice(0, 15)), []);
        // Another payment of the same moment has another reference. One in 97 has the check digits of one here, and so begins as that one cut.
        const others = Array.from({ length: 20 }, (_, i) => creditorReference({ id, salt: `s${i}` }));
        const other = others.find((one) => !begins.has(one.slice(0, 4)))!;
        assert.deepEqual(await findByTransferReference(database, other), []);
      }
      for (const text of ['RF18539007547034', 'ORDER-1', '', '12 '.repeat(160)])
        assert.deepEqual(await findByTransferReference(database, text), []);
    });

    test('what is pending past its time is found as cancelled, swept or not', async () => {
      assert.deepEqual(await search({ status: 'pending' }), [pending]);
      assert.deepEqual(await search({ status: 'cancelled' }), [cancelled, due]);
      assert.deepEqual(await search({ status: 'cancelled', merchant_id: 'mer_development' }), [
        cancelled,
        due,
      ]);
      assert.deepEqual(await search({ status: 'cancelled', merchant_id: 'mer_other' }), []);
    });

    test('figures count what was decided by day, and a day that is over is remembered', async () => {
      const { database, journal } = service.service;
      const figures = new ReviewFigures({
        database,
        journal,
        clock: service.clock,
        timeZone: 'Asia/Kolkata',
      });
      assert.equal((await figures.days()).length, 30);
      assert.equal((await figures.waiting()).count, 4);
      assert.equal(await figures.lastDecision(), null);
      await decide(service, waiting[0]!, 'approve');
      await decide(service, waiting[3]!, 'reject');
      const today = (await figures.days()).at(-1)!;
      assert.deepEqual({ ...today, date: '' }, { date: '', approved: 1, rejected: 1 });
      assert.equal((await figures.waiting()).count, 2, 'what was committed here is counted at once');
      assert.equal((await figures.lastDecision())!.by, ANA.id);
      service.clock.advance(2 * DAY_MS);
      for (let look = 0; look < 2; look++) {
        const later = await figures.days();
        assert.deepEqual(later.at(-3), today);
        assert.deepEqual([later.at(-1)!.approved, later.at(-1)!.rejected], [0, 0]);
      }
    });

    test('the queue is counted once for all who ask at once, and again when another node may have changed it', async () => {
      const { database, journal } = service.service;
      let asked = 0;
      const counting = Object.assign(Object.create(database), {
        query: (sql: string, ...values: never[]) => {
          asked++;
          return database.query(sql, ...values);
        },
      });
      const figures = new ReviewFigures({
        database: counting,
        journal,
        clock: service.clock,
        timeZone: 'UTC',
      });
      await Promise.all([figures.waiting(), figures.waiting(), figures.waiting()]);
      assert.equal(asked, 1);
      service.clock.advance(2000);
      await figures.waiting();
      assert.equal(asked, 2);
    });

    test('facts say what they rest on', async () => {
      const shop = { merchant_reference: 'TWICE', customer: { name: 'Ada King', email: 'ada@example.org' } };
      const others: string[] = [];
      for (let i = 0; i < 5; i++) {
        const { id } = await service.create({ amount: 10 + i, ...shop });
        await submit(service, id, { payer_name: 'King  ada' });
        await decide(service, id, i === 0 ? 'reject' : 'approve');
        others.unshift(id);
      }
      const { id } = await service.create({ amount: 120, ...shop });
      await submit(service, id, { payer_name: 'Eve' });
      const facts = await factsOf(service.service.database, await row(id), { now: now(), timeZone: 'UTC' });
      const told = Object.fromEntries(facts.map(({ kind, tone, text }) => [kind, `${tone}: ${text}`]));
      assert.equal(told.test_mode, 'notice: This is a test payment: no money moves.');
      assert.match(told.payer_name!, /^notice: .*“Eve”, order “Ada King”\.$/);
      assert.match(told.amount!, /^notice: 10 times what .* usually asks\.$/);
      assert.match(
        told.same_reference!,
        /^notice: 5 other payments use this order number.*, 4 of them neither/,
      );
      assert.match(
        told.same_email!,
        /^notice: \d+ other payments use this email address, \d+ from the last 24 hours/,
      );
      assert.deepEqual(facts.find(({ kind }) => kind === 'same_reference')!.payments, others);
      for (const { basis } of facts) assert.match(basis, /^[A-Z].*\.$/);
      const before = await factsOf(service.service.database, await row(others[0]!), {
        now: now(),
        timeZone: 'UTC',
      });
      assert.equal(before.find(({ kind }) => kind === 'payer_name')!.tone, 'plain');
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
      for (let i = 0; i < (engine === 'sqlite' ? 600 : 200); i++) {
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
