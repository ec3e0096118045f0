// Accepting, approving, ignoring and reopening bank lines: what becomes of line and payment, what is refused, and what the history holds.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ENGLISH } from '../../../src/lib/phrases.ts';
import { shortReference } from '../../../src/payments/methods/transfer/creditor-reference.ts';
import type { Payment } from '../../../src/payments/payment.ts';
import { claim } from '../../../src/review/act.ts';
import { factsOf } from '../../../src/review/facts.ts';
import { arrivalsOf, receivedSoFar } from '../../../src/review/review.ts';
import { bookedBetween } from '../../../src/statements/balance-queries.ts';
import { eraseLinesOf } from '../../../src/statements/erase.ts';
import { partsOfLine } from '../../../src/statements/line-queries.ts';
import { onStatement } from '../../../src/statements/matching/bank-fact.ts';
import { approveCertain } from '../../../src/statements/matching/certain-acts.ts';
import {
  acceptLine,
  approveLine,
  ignoreLine,
  type LinePair,
  reopenLine,
} from '../../../src/statements/matching/line-acts.ts';
import { acceptParts, reopenParts, severalOf } from '../../../src/statements/matching/line-parts.ts';
import { certainPairs } from '../../../src/statements/matching/open-lines.ts';
import { Bank } from '../../support/bank.ts';
import { ACCOUNT, camt, type Entry, today } from '../../support/camt.ts';
import { open } from '../../support/customer.ts';
import { OPERATOR, sharedHarness } from '../../support/harness.ts';
import { editOutside } from '../../support/outside.ts';
import { decide, record, referenceOf, submit } from '../../support/payments.ts';
import { ANA, BEN, haveReviewers } from '../../support/reviewers.ts';
import { ENGINES } from '../../support/stores.ts';

/** Money that was recorded, and not matched under review. */
const recordedOn = (payment: Payment) => arrivalsOf(payment).filter(({ act }) => act === 'record');
const CONFLICT = { code: 'conflict' };
const WRONG = { code: 'invalid_status' };

for (const engine of ENGINES) {
  describe(`acts on bank lines on ${engine}`, () => {
    const service = sharedHarness(engine, { isVerified: true });
    const bank = new Bank(service);
    before(() => haveReviewers(service.service));
    const bring = (entry?: Partial<Entry>) => bank.bring(entry);
    const pay = (amount?: number) => bank.pay(amount);
    const pairOf = (line_id: string, { id, version }: Payment) => ({ line_id, payment_id: id, version });
    /** Matches a line with a payment as it is now, or as `more` has it. */
    const accept = async (line: string, { id }: Payment, more: Partial<LinePair> = {}, by = ANA) => {
      const pair = { ...pairOf(line, await bank.payment(id)), ...more };
      return bank.commit((one) => acceptLine(one, by, pair));
    };
    const approved = async (line: string, { id }: Payment, note?: string) => {
      const pair = pairOf(line, await bank.payment(id));
      return bank.commit((one) => approveLine(one, ANA, pair, {}, note));
    };
    const reopen = (line: string) => bank.commit((one) => reopenLine(one, ANA, line));
    const received = async ({ id }: Payment) => receivedSoFar(await bank.payment(id));
    /** A line of now that carries the reference of a payment. */
    const bringFor = async ({ id, amount_minor }: Payment, more: Partial<Entry> = {}) =>
      bring({
        amount: (amount_minor / 100).toFixed(2),
        text: await referenceOf(service, id),
        day: today(service),
        ...more,
      });
    const eventsOf = async ({ id }: Payment): Promise<string[]> => {
      const { data } = (await service.request(`/v1/events?payment_id=${id}`)).json;
      return data.map(({ type }: { type: string }) => type);
    };
    /** What the API says of a payment's money. */
    const shown = async ({ id }: Payment) => {
      const { data } = (await service.request(`/v1/payments/${id}`)).json;
      return [data.status, data.amount_received, data.amount_returned, data.amount_due];
    };
    const factOf = async ({ id }: Payment) => {
      const context = { now: service.clock.now(), timeZone: 'UTC' };
      const facts = await factsOf(bank.database, await bank.payment(id), context, onStatement);
      const fact = facts.find(({ kind }) => kind === 'on_statement');
      return fact && [fact.tone, fact.text];
    };

    test('a line for a payment that nobody announced brings it under review, with amount, day and reference', async () => {
      const [paid, line] = [await pay(), await bring({ amount: '40.00', bank: 'FIRST' })];
      await accept(line, paid);
      const after = await bank.payment(paid.id);
      assert.equal(after.status, 'requires_review');
      const [receipt] = recordedOn(after);
      assert.deepEqual(
        [receipt!.amount_minor, receipt!.received_on, receipt!.bank_reference],
        [4000, '2026-11-20', 'FIRST'],
      );
      const { state, payment_id } = await bank.line(line);
      assert.deepEqual([state, payment_id], ['matched', paid.id]);
    });

    test('a line is not matched with a payment that a colleague has claimed', async () => {
      const [paid, line] = [await pay(), await bring()];
      await submit(service, paid.id);
      await bank.commit((one) => claim(one, BEN, paid.id, {}), paid.id);
      await assert.rejects(accept(line, paid), { ...CONFLICT, message: /Ben has it until/ });
      await accept(line, paid, {}, BEN);
      assert.equal((await bank.line(line)).state, 'matched');
    });

    test('an approval carries the bank’s reference beside what was sent, and its line cannot be taken back', async () => {
      const [paid, line] = [await pay(), await bring({ bank: 'WHOLE' })];
      await submit(service, paid.id);
      assert.equal((await approved(line, paid)).outcome, 'approved');
      const after = await bank.payment(paid.id);
      assert.deepEqual([after.status, after.bank_reference, recordedOn(after)], ['approved', 'WHOLE', []]);
      await assert.rejects(reopen(line), WRONG);
    });

    test('a line matched under review is told to merchant and customer, who is asked for the rest until it is taken back', async () => {
      const paid = await pay();
      await submit(service, paid.id);
      const before = (await open(service, paid.id)).body;
      const [part, rest] = [await bring({ amount: '40.00' }), await bring({ amount: '9.90' })];
      await accept(part, paid);
      assert.deepEqual(await eventsOf(paid), [
        'payment.created',
        'payment.submitted',
        'payment.money_received',
      ]);
      assert.deepEqual(await shown(paid), ['requires_review', '40.00', '0.00', '9.90']);
      assert.match((await open(service, paid.id)).body, /€9\.90/);
      await accept(rest, paid);
      assert.deepEqual(await shown(paid), ['requires_review', '49.90', '0.00', '0.00']);
      for (const one of [part, rest]) await reopen(one);
      assert.equal(await received(paid), 0);
      assert.equal((await open(service, paid.id)).body, before);
    });

    test('what was matched is a fact about the payment, worth a look where the amount differs', async () => {
      const zoe = { name: 'Zoë Berg' };
      for (const [asked, lines, tone, text] of [
        [49.9, [], undefined, /^$/],
        [
          49.9,
          [{ amount: '40.00', ...zoe }],
          'notice',
          /^EUR 40\.00 stands on the bank statement of 20 Nov 2026, from “Zoë Berg”: EUR 9\.90 less than was asked for\.$/,
        ],
        [50, [{ amount: '20.00' }, { amount: '30.00' }], 'plain', /statement of 20 Nov 2026: exactly/],
        [49.9, [{ amount: '59.90', ...zoe }], 'notice', /EUR 10\.00 more .* Return EUR 10\.00 to “Zoë Berg”/],
      ] as const) {
        const paid = await pay(asked);
        for (const entry of lines) await accept(await bring(entry), paid);
        const [is, said = ''] = (await factOf(paid)) ?? [];
        assert.match(said, text);
        if (tone === 'notice') assert.equal(is, tone);
      }
    });

    test('a line of an amount that was recorded by hand is the same money only if somebody says so', async () => {
      const [paid, line] = [await pay(60), await bring({ amount: '30.00' })];
      await record(service, paid.id, 3000, null);
      await assert.rejects(accept(line, paid), /say whether the line shows it, or more money/);
      await accept(line, paid, { as: 'same' });
      assert.equal(await received(paid), 3000);
      await reopen(line);
      assert.equal(await received(paid), 3000);
      await accept(line, paid, { as: 'besides' });
      assert.equal(await received(paid), 6000);
    });

    test('a line is linked with the money that a payment was approved for, without a decision, and a second one is not', async () => {
      const paid = await pay(51);
      await submit(service, paid.id);
      await decide(service, paid.id, 'approve', 'BK51');
      const line = await bringFor(paid, { bank: 'BK51' });
      const first = async (id: string) => {
        const { payment, level, case: kind, button } = await bank.proposal(id);
        return [payment.id, level, kind, button];
      };
      assert.deepEqual(await first(line), [paid.id, 'certain', 'recorded', 'link']);
      const certain = certainPairs(await bank.open());
      const pair = pairOf(line, await bank.payment(paid.id));
      const done = await bank.commit((one) => approveCertain(one, ANA, [pair], certain, {}));
      assert.deepEqual([done.decisions, done.linked, done.left], [[], [pair], []]);
      assert.deepEqual(await shown(paid), ['approved', '51.00', '0.00', '0.00']);
      assert.equal((await eventsOf(paid)).at(-1), 'payment.approved');
      // What was linked after the decision can be taken back; another line is money to return.
      await reopen(line);
      await accept(line, paid);
      const second = await bringFor(paid);
      assert.deepEqual(await first(second), [paid.id, 'possible', 'twice', 'none']);
      await assert.rejects(accept(second, paid), /approved already/);
    });

    // What was approved by hand stays known until lines show it.
    const parts = [
      { minor: 3000, byLine: 'rest', byHand: 'recorded_other', sum: 6000 },
      { minor: 2000, byLine: 'rest', byHand: 'recorded', sum: 8000 },
      { minor: 2000, byLine: 'twice', byHand: 'twice', sum: 8000 },
    ];
    for (const isByHand of engine === 'sqlite' ? [true, false] : [])
      test(`what was approved ${isByHand ? 'by hand' : 'by a line'} comes in parts: each is linked`, async () => {
        const paid = await pay(80);
        const line = await bringFor(paid, { amount: '30.00' });
        if (isByHand) {
          await submit(service, paid.id);
          await decide(service, paid.id, 'approve', null);
          await accept(line, paid);
        } else await approved(line, paid, 'A part');
        for (const { minor, byLine, byHand, sum } of parts) {
          const kind = isByHand ? byHand : byLine;
          const further = await bringFor(paid, { amount: (minor / 100).toFixed(2) });
          const proposal = await bank.proposal(further);
          assert.deepEqual(
            [proposal.case, proposal.level],
            [kind, kind === 'recorded' ? 'likely' : 'possible'],
          );
          if (kind === 'twice') await assert.rejects(accept(further, paid), /approved already/);
          else await accept(further, paid);
          assert.equal(await received(paid), isByHand ? 8000 : sum);
          if (kind === 'rest') assert.equal((await eventsOf(paid)).at(-1), 'payment.money_received');
        }
      });

    test('a debit is matched as money that went back, whatever the payment’s status', async () => {
      const paid = await pay(100);
      await approved(await bringFor(paid), paid);
      const debit = await bringFor(paid, { amount: '30.00', direction: 'DBIT' });
      const { case: kind, button } = await bank.proposal(debit);
      assert.deepEqual([kind, button], ['went_out', 'back']);
      await accept(debit, paid);
      assert.deepEqual(await shown(paid), ['approved', '70.00', '30.00', '0.00']);
      const [tone, text] = (await factOf(paid))!;
      assert.equal(tone, 'notice');
      assert.match(text!, /EUR 30\.00 went back on .*: EUR 30\.00 less than was asked for\.$/);
      await reopen(debit);
      assert.equal(await received(paid), 10_000);
    });

    test('refused: a line twice, another version, another currency, a pending line, a decided payment', async () => {
      const [paid, line, other] = [await pay(), await bring(), await bring()];
      await assert.rejects(accept(line, paid, { version: 7 }), CONFLICT);
      const submitted = await pay();
      await submit(service, submitted.id);
      await assert.rejects(accept(line, submitted, { version: submitted.version }), CONFLICT);
      await accept(line, paid);
      await assert.rejects(accept(line, paid, {}, BEN), WRONG);
      const dollars = await bank.pay(49.9, { currency: 'USD' });
      await assert.rejects(accept(other, dollars), /The line is in EUR, the payment in USD/);
      await assert.rejects(accept(await bring({ status: 'PDNG' }), await pay()), /no credit that was booked/);
      const decided = await pay();
      await approved(await bring(), decided);
      await assert.rejects(accept(other, decided), /approved already/);
      assert.equal((await bank.line(other)).state, 'open');
    });

    test('a matched entry stays when its transactions come', async () => {
      const [paid, line] = [await pay(), await bring({ bank: 'STAYS' })];
      await accept(line, paid);
      const parts = [{ amount: '40.00' }, { amount: '9.90' }];
      const details = camt([{ amount: '49.90', bank: 'STAYS', parts }], { message: '054' });
      assert.deepEqual(await bank.counts(details), [[0, 0, 2]]);
      assert.equal((await bank.line(line)).state, 'matched');
    });

    test('an ignored line has its reason, and can be opened again', async () => {
      const line = await bring();
      const ignore = (reason: string) => bank.commit((one) => ignoreLine(one, ANA, line, reason));
      await ignore('Rent of the flat upstairs');
      const ignored = await bank.line(line);
      assert.deepEqual([ignored.state, ignored.note], ['ignored', 'Rent of the flat upstairs']);
      await assert.rejects(ignore('Again'), WRONG);
      await bank.commit((one) => reopenLine(one, BEN, line));
      const again = await bank.line(line);
      assert.deepEqual([again.state, again.note], ['open', null]);
    });

    test('one line for two payments is split, each payment has its part, and both are taken back together', async () => {
      const [one, two] = [await pay(30), await pay(12.5)];
      const text = `${await referenceOf(service, one.id)} ${await referenceOf(service, two.id)}`;
      const line = await bring({ amount: '42.50', text, day: today(service) });
      const proposed = async () => {
        const { proposals } = (await bank.open()).find((each) => each.line.id === line)!;
        return severalOf({ amount_minor: 4250 }, proposals).map(({ id }) => id);
      };
      assert.deepEqual(new Set(await proposed()), new Set([one.id, two.id]));
      const pairs = async (...ids: string[]) =>
        Promise.all(ids.map(async (id) => ({ payment_id: id, version: (await bank.payment(id)).version })));
      const split = async (...ids: string[]) => {
        const some = await pairs(...ids);
        await bank.commit((work) => acceptParts(work, ANA, line, some));
      };
      // Nothing of it, if it comes to more than the amount, a payment is named twice or was changed.
      for (const ids of [
        [one.id, one.id],
        [one.id, two.id, (await pay(1)).id],
      ])
        await assert.rejects(split(...ids), { ...WRONG, message: /do not come to the amount/ });
      const old = await pairs(one.id, two.id);
      await submit(service, two.id);
      await assert.rejects(
        bank.commit((work) => acceptParts(work, ANA, line, old)),
        CONFLICT,
      );
      const stateNow = async () => (await bank.line(line)).state;
      assert.deepEqual([await stateNow(), (await bank.payment(one.id)).status], ['open', 'pending']);

      const money = { account: ACCOUNT, currency: 'EUR' };
      const booked = () => bookedBetween(bank.database, money, '2026-01-01', '2999-01-01');
      const sum = await booked();
      await split(two.id, one.id);
      assert.equal(await booked(), sum);
      const parts = async () => partsOfLine(bank.database, await bank.line(line));
      assert.deepEqual(
        new Set((await parts()).map(({ payment_id, amount_minor }) => `${payment_id} ${amount_minor}`)),
        new Set([`${one.id} 3000`, `${two.id} 1250`]),
      );
      assert.equal(await stateNow(), 'split');
      assert.deepEqual(
        [await shown(one), await shown(two)],
        [
          ['requires_review', '30.00', '0.00', '0.00'],
          ['requires_review', '12.50', '0.00', '0.00'],
        ],
      );
      await split(one.id, two.id);
      assert.equal((await parts()).length, 2, 'a second press changes nothing');
      await bank.commit((work) => reopenParts(work, ANA, line));
      assert.deepEqual([await parts(), await stateNow()], [[], 'open']);
      assert.deepEqual([await received(one), await received(two)], [0, 0]);
      assert.equal((await proposed()).length, 2);

      await split(one.id, two.id);
      await decide(service, one.id);
      await assert.rejects(
        bank.commit((work) => reopenParts(work, ANA, line)),
        WRONG,
      );
      assert.equal((await bank.payment(two.id)).status, 'requires_review');
      // Of the payment that nobody has decided, its part alone can be taken back.
      await reopen((await parts()).find(({ payment_id }) => payment_id === two.id)!.id);
      assert.equal(await received(two), 0);
    });

    test('transactions of an entry that was split are left out, and its words are erased with a payment', async () => {
      const [one, two] = [await pay(20), await pay(22)];
      const line = await bring({ amount: '42.00', text: 'Two orders', day: today(service), bank: 'SPLIT' });
      const pairs = [one, two].map(({ id, version }) => ({ payment_id: id, version }));
      await bank.commit((work) => acceptParts(work, ANA, line, pairs));
      const entry = { amount: '42.00', bank: 'SPLIT' };
      const parts = [{ amount: '20.00' }, { amount: '22.00' }];
      assert.deepEqual(await bank.counts(camt([{ ...entry, parts }], { message: '054' })), [[0, 0, 2]]);
      // The bank's reference of the line, used again for other money.
      const later = camt([{ ...entry, day: '2027-03-01' }], { number: '900' });
      assert.deepEqual(await bank.counts(later), [[1, 0, 0]]);
      await bank.commit((work) => eraseLinesOf(work, one.id, OPERATOR));
      const kept = await bank.line(line);
      assert.equal(kept.details, null);
      assert.deepEqual(
        new Map(
          (await partsOfLine(bank.database, kept)).map((part) => [part.payment_id, part.details === null]),
        ),
        new Map([
          [one.id, true],
          [two.id, false],
        ]),
      );
    });

    test('nobody acts on a line that was changed in the store itself', async () => {
      const [paid, line] = [await pay(), await bring()];
      const set = (minor: number) =>
        editOutside(service.store, `update statement_lines set amount_minor = ${minor} where id = '${line}'`);
      await set(999_900);
      await assert.rejects(accept(line, paid), CONFLICT);
      await set(4990);
      assert.equal((await bank.payment(paid.id)).status, 'pending');
    });

    test('the certain ones are approved in one commit, and each that changed meanwhile is left and named', async () => {
      const paid = await Promise.all([pay(61), pay(62), pay(63), pay(64)]);
      const lines: string[] = [];
      for (const one of paid) lines.push(await bringFor(one));
      const mine = certainPairs(await bank.open()).filter(({ line }) => lines.includes(line.id));
      assert.equal(mine.length, 4);
      const pairs = mine.map(({ line, payment }) => pairOf(line.id, payment));
      // One is sent by its customer meanwhile, one line is ignored, and one is not certain by now.
      await submit(service, paid[1]!.id);
      await bank.commit((one) => ignoreLine(one, BEN, lines[2]!, 'Somebody else’s'));
      const fresh = mine.filter(({ payment }) => payment.id !== paid[3]!.id);
      const { counters } = service.service.journal;
      const commits = counters.commits;
      const { decisions, left } = await bank.commit((one) => approveCertain(one, ANA, pairs, fresh, {}));
      assert.equal(service.service.journal.counters.commits, commits + 1);
      assert.deepEqual(
        decisions.map(({ payment, outcome }) => [payment.id, outcome]),
        [[paid[0]!.id, 'approved']],
      );
      const why = (i: number) => left.find(({ payment_id }) => payment_id === paid[i]!.id)?.why(ENGLISH);
      assert.deepEqual(
        [why(1), why(2), why(3)],
        [
          'The payment has changed since you looked at it.',
          'Another administrator was first.',
          'It is not certain any more.',
        ],
      );
      assert.equal((await bank.payment(paid[3]!.id)).status, 'pending');
    });

    test('what carries the same reference counts however old it is, and what cannot be looked at leaves nothing certain', async () => {
      const [two, back, free] = [await pay(71), await pay(72), await pay(73)];
      // Each on a day of its own, behind all other lines of the store.
      const on = (day: string, paid: Payment, more: Partial<Entry> = {}) =>
        bringFor(paid, { day: `2199-01-${day}`, ...more });
      const old = await on('01', two, { text: shortReference(two).replace(/^(.{8})/, '$1-') });
      await on('02', back, { direction: 'DBIT' });
      await on('03', back, { direction: 'DBIT', text: 'Rent' });
      for (const day of ['04', '05']) await on(day, free, { text: 'For nobody' });
      const lines = [await on('06', two), await on('07', back), await on('08', free)];
      const told = async (options: Parameters<Bank['open']>[0]) => {
        const all = await bank.open(options);
        assert.ok(all.every(({ line }) => line.text !== 'Rent'));
        const of = (id: string) => all.find(({ line }) => line.id === id)?.proposals[0];
        return [...lines, old].map((id) => of(id) && [of(id)!.level, of(id)!.case]);
      };
      const [rival, away, sure] = [
        ['likely', 'two_lines'],
        ['possible', 'taken_back'],
        ['certain', 'exact'],
      ];
      assert.deepEqual(await told({}), [rival, away, sure, rival]);
      assert.deepEqual(await told({ shown: 3 }), [rival, away, sure, undefined]);
      assert.deepEqual(await told({ shown: 1 }), [undefined, undefined, sure, undefined]);
      // A line behind those that are shown is held against them.
      assert.deepEqual(await told({ shown: 3, also: [await bank.line(old)] }), [rival, away, sure, rival]);
      const alone = { shown: 1, also: [await bank.line(lines[1]!)] };
      assert.deepEqual(await told(alone), [undefined, away, sure, undefined]);
      assert.deepEqual(await told({ shown: 3, older: 1 }), [
        ['likely', 'unseen'],
        away,
        ['likely', 'unseen'],
        undefined,
      ]);
    });
  });
}
