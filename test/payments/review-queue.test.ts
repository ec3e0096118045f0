// Finding payments to review and everything else: the queue, the search over all payments, the figures, and the facts beside a payment.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DAY_MS, HOUR_MS, lastDays } from '../../src/lib/time.ts';
import { creditorReference, grouped, qrReference } from '../../src/methods/transfer/creditor-reference.ts';
import { findPayment } from '../../src/payments/queries.ts';
import { CLAIM_MS, claim } from '../../src/payments/review/claim.ts';
import { factsOf } from '../../src/payments/review/facts.ts';
import { ReviewFigures } from '../../src/payments/review/figures.ts';
import {
  countQueue,
  linksAskedFor,
  listQueue,
  namesOf,
  nextInQueue,
  queuePlace,
  searchPayments,
} from '../../src/payments/review/queries.ts';
import { findByTransferReference } from '../../src/payments/review/search/transfer-reference.ts';
import { requestLink } from '../../src/payments/submit.ts';
import { decide, submit } from '../campaigns/history.ts';
import { type Harness, OTHER_KEY, startHarness } from '../support/harness.ts';
import { ANA, addReviewers, BEN } from '../support/reviewers.ts';
import { ENGINES } from '../support/stores.ts';

for (const engine of ENGINES) {
  describe(`what is found for review on ${engine}`, () => {
    let service: Harness;
    /** Oldest first: all wait, the third is another merchant's and in euros. */
    const waiting: string[] = [];
    let pending: string;
    let due: string;
    let cancelled: string;
    before(async () => {
      service = await startHarness(engine);
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
      cancelled = (await service.create()).id;
      await service.request(`/v1/payments/${cancelled}/cancel`, { method: 'POST' });
    });
    after(() => service.close());

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
        sums: [],
        methods: [],
      });
    });

    test('the queue knows whose is whose, and the next passes over what others have', async () => {
      const id = waiting[1]!;
      await service.service.journal.commit((transaction) => claim(transaction, ANA, id, {}, 'req_c'), id);
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
      assert.deepEqual(await search({ id: b }), [b]);
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
      for (const id of [waiting[1]!, pending]) {
        const payment = await row(id);
        for (const text of [
          creditorReference(payment),
          grouped(creditorReference(payment)).toLowerCase(),
          qrReference(payment),
        ])
          assert.equal(await findByTransferReference(database, text), id, text);
        // Another payment of the same moment has another reference.
        const { salt } = await row(waiting[2]!);
        assert.equal(await findByTransferReference(database, creditorReference({ id, salt })), undefined);
      }
      for (const text of ['RF18539007547034', 'ORDER-1', ''])
        assert.equal(await findByTransferReference(database, text), undefined);
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

    test('links asked for anew are listed, and administrators have names', async () => {
      await service.service.journal.commit((transaction) => requestLink(transaction, due, 'req_l'), due);
      const asked = await linksAskedFor(service.service.database, 5);
      assert.deepEqual(
        asked.map(({ id }) => id),
        [due],
      );
      const names = await namesOf(service.service.database, [ANA.id, 'adm_unknown', ANA.id]);
      assert.deepEqual([...names], [[ANA.id, 'Ana']]);
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
      const facts = await factsOf(service.service.database, await row(id), now());
      const told = Object.fromEntries(facts.map(({ kind, tone, text }) => [kind, `${tone}: ${text}`]));
      assert.equal(told.test_mode, 'notice: This is a test payment: no money moves.');
      assert.match(told.payer_name!, /^notice: .*“Eve”, the merchant “Ada King”\.$/);
      assert.match(told.amount!, /^notice: The amount is 10 times this merchant's median of USD 12\.00\.$/);
      assert.match(told.same_reference!, /^notice: .* TWICE stands on 5 other payments, 4 of them neither/);
      assert.match(told.same_email!, /^notice: .* other payments, \d+ from the last 24 hours/);
      assert.deepEqual(facts.find(({ kind }) => kind === 'same_reference')!.payments, others);
      for (const { basis } of facts) assert.match(basis, /^[A-Z].*\.$/);
      const before = await factsOf(service.service.database, await row(others[0]!), now());
      assert.equal(before.find(({ kind }) => kind === 'payer_name')!.tone, 'plain');
    });
  });
}

test('days begin when their time zone says, summer time or not', () => {
  const [before, changed, after] = lastDays('Europe/Berlin', Date.UTC(2026, 2, 30, 12), 3);
  assert.deepEqual([before!.date, changed!.date, after!.date], ['2026-03-28', '2026-03-29', '2026-03-30']);
  assert.equal(changed!.start, Date.UTC(2026, 2, 28, 23));
  assert.equal(after!.start - changed!.start, 23 * HOUR_MS);
});
