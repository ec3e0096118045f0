// Accepting, approving, ignoring and reopening bank lines: what becomes of line and payment, what is refused, and what the history holds.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ENGLISH } from '../../../src/lib/phrases.ts';
import { DAY_MS } from '../../../src/lib/time.ts';
import { Bank } from '../../support/bank.ts';
import { camt, type Entry, today } from '../../support/camt.ts';
import { Clerk, type Seen } from '../../support/clerk.ts';
import { open } from '../../support/customer.ts';
import { isWhole } from '../../support/extent.ts';
import { sharedHarness } from '../../support/harness.ts';
import { editOutside } from '../../support/outside.ts';
import { decide, erase, record, referenceOf, referencesOf, submit } from '../../support/payments.ts';
import { BEN, haveReviewers } from '../../support/reviewers.ts';
import { ENGINES } from '../../support/stores.ts';

const CONFLICT = { code: 'conflict' };
const WRONG = { code: 'invalid_status' };

for (const engine of ENGINES) {
  describe(`acts on bank lines on ${engine}`, () => {
    const service = sharedHarness(engine, { isVerified: true });
    const bank = new Bank(service);
    before(() => haveReviewers(service.service));
    /** What asks the store no more than the others do: on PostgreSQL where everything is asked for. */
    const onSqlite: (name: string, work: () => Promise<void>) => void =
      engine === 'sqlite' || isWhole ? test : () => {};
    const [ana, ben] = [new Clerk(bank), new Clerk(bank, BEN)];
    const bring = (entry?: Partial<Entry>) => bank.bring(entry);
    const pay = (amount?: number) => bank.pay(amount);
    /** Matches a line with a payment as it is now. */
    const accept = async (line: string, { id }: Seen, as?: 'same' | 'besides', by = ana) =>
      by.match(line, await bank.payment(id), as);
    const approved = async (line: string, { id }: Seen, note?: string) =>
      ana.approve(line, await bank.payment(id), note);
    const received = async (payment: Seen) => (await bank.shown(payment))[1];
    const shown = (payment: Seen) => bank.shown(payment);
    /** A line of now that carries the reference of a payment. */
    const bringFor = async (
      { id, amount_minor }: Seen & { amount_minor: number },
      more: Partial<Entry> = {},
    ) =>
      bring({
        amount: (amount_minor / 100).toFixed(2),
        text: await referenceOf(service, id),
        day: today(service),
        ...more,
      });
    const eventsOf = async ({ id }: Seen): Promise<string[]> => {
      const { data } = (await service.request(`/v1/events?payment_id=${id}`)).json;
      return data.map(({ type }: { type: string }) => type);
    };

    test('a line for a payment that nobody announced brings it under review, with amount, day and reference', async () => {
      const [paid, line] = [await pay(), await bring({ amount: '40.00', bank: 'FIRST' })];
      await accept(line, paid);
      const { status, review } = await bank.audited(`payments/${paid.id}`);
      assert.deepEqual(
        [
          status,
          ...['act', 'amount', 'received_on', 'bank_reference', 'line'].map((name) => review[0][name]),
        ],
        ['requires_review', 'record', '40.00', '2026-11-20', 'FIRST', line],
      );
      const { state, payment_id } = await bank.line(line);
      assert.deepEqual([state, payment_id], ['matched', paid.id]);
    });

    onSqlite('a line is not matched with a payment that a colleague has claimed', async () => {
      const [paid, line] = [await pay(), await bring()];
      await submit(service, paid.id);
      await ben.claim(paid);
      await assert.rejects(accept(line, paid), { ...CONFLICT, message: /Ben has it until/ });
      await accept(line, paid, undefined, ben);
      assert.equal((await bank.line(line)).state, 'matched');
    });

    test('an approval carries the bank’s reference beside what was sent, and its line cannot be taken back', async () => {
      const [paid, line] = [await pay(), await bring({ bank: 'WHOLE' })];
      await submit(service, paid.id);
      assert.equal((await approved(line, paid)).outcome, 'approved');
      const { status, review } = await bank.audited(`payments/${paid.id}`);
      const acts = review.map((one: Record<string, string>) => [one.act, one.bank_reference, one.line]);
      assert.deepEqual(
        [status, acts],
        [
          'approved',
          [
            ['match', null, line],
            ['approve', 'WHOLE', null],
          ],
        ],
      );
      await assert.rejects(ana.reopen(line), WRONG);
    });

    onSqlite(
      'a line matched under review is told to merchant and customer, who is asked for the rest until it is taken back',
      async () => {
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
        for (const one of [part, rest]) await ana.reopen(one);
        assert.equal(await received(paid), '0.00');
        assert.equal((await open(service, paid.id)).body, before);
      },
    );

    onSqlite(
      'a line of an amount that was recorded by hand is the same money only if somebody says so',
      async () => {
        const [paid, line] = [await pay(60), await bring({ amount: '30.00' })];
        await record(service, paid.id, 3000, null);
        await assert.rejects(accept(line, paid), { ...WRONG, message: /say whether/ });
        await accept(line, paid, 'same');
        assert.equal(await received(paid), '30.00');
        await ana.reopen(line);
        assert.equal(await received(paid), '30.00');
        await accept(line, paid, 'besides');
        assert.equal(await received(paid), '60.00');
      },
    );

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
      const done = await ana.approveCertain([[line, await bank.payment(paid.id)]], await bank.certain());
      assert.deepEqual([done.decisions, done.linked.length, done.left], [[], 1, []]);
      assert.deepEqual(await shown(paid), ['approved', '51.00', '0.00', '0.00']);
      assert.equal((await eventsOf(paid)).at(-1), 'payment.approved');
      // What was linked after the decision can be taken back; another line is money to return.
      await ana.reopen(line);
      await accept(line, paid);
      const second = await bringFor(paid);
      assert.deepEqual(await first(second), [paid.id, 'possible', 'twice', 'none']);
      await assert.rejects(accept(second, paid), /approved already/);
    });

    // What was approved by hand stays known until lines show it.
    const parts = [
      { minor: 3000, byLine: 'rest', byHand: 'recorded_other', sum: '60.00' },
      { minor: 2000, byLine: 'rest', byHand: 'recorded', sum: '80.00' },
      { minor: 2000, byLine: 'twice', byHand: 'twice', sum: '80.00' },
    ];
    for (const isByHand of [true, false])
      onSqlite(
        `what was approved ${isByHand ? 'by hand' : 'by a line'} comes in parts: each is linked`,
        async () => {
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
            assert.equal(await received(paid), isByHand ? '80.00' : sum);
            if (kind === 'rest') assert.equal((await eventsOf(paid)).at(-1), 'payment.money_received');
          }
        },
      );

    onSqlite('a debit is matched as money that went back, whatever the payment’s status', async () => {
      const paid = await pay(100);
      await approved(await bringFor(paid), paid);
      const debit = await bringFor(paid, { amount: '30.00', direction: 'DBIT' });
      const { case: kind, button } = await bank.proposal(debit);
      assert.deepEqual([kind, button], ['went_out', 'back']);
      await accept(debit, paid);
      assert.deepEqual(await shown(paid), ['approved', '70.00', '30.00', '0.00']);
      await ana.reopen(debit);
      assert.equal(await received(paid), '100.00');
    });

    onSqlite(
      'refused: a line twice, another version, another currency, a pending line, a decided payment',
      async () => {
        const [paid, line, other] = [await pay(), await bring(), await bring()];
        await assert.rejects(ana.match(line, { ...paid, version: 7 }), CONFLICT);
        const submitted = await pay();
        await submit(service, submitted.id);
        await assert.rejects(ana.match(line, submitted), CONFLICT);
        await accept(line, paid);
        await assert.rejects(accept(line, paid, undefined, ben), WRONG);
        const dollars = await bank.pay(49.9, { currency: 'USD' });
        await assert.rejects(accept(other, dollars), /The line is in EUR, the payment in USD/);
        await assert.rejects(
          accept(await bring({ status: 'PDNG' }), await pay()),
          /no credit that was booked/,
        );
        const decided = await pay();
        await approved(await bring(), decided);
        await assert.rejects(accept(other, decided), /approved already/);
        assert.equal((await bank.line(other)).state, 'open');
      },
    );

    onSqlite('a matched entry stays when its transactions come', async () => {
      const [paid, line] = [await pay(), await bring({ bank: 'STAYS' })];
      await accept(line, paid);
      const parts = [{ amount: '40.00' }, { amount: '9.90' }];
      const details = camt([{ amount: '49.90', bank: 'STAYS', parts }], { message: '054' });
      assert.deepEqual(await bank.counts(details), [[0, 0, 2]]);
      assert.equal((await bank.line(line)).state, 'matched');
    });

    onSqlite('an ignored line has its reason, and can be opened again', async () => {
      const line = await bring();
      await ana.ignore(line, 'Rent upstairs');
      const ignored = await bank.line(line);
      assert.deepEqual([ignored.state, ignored.note], ['ignored', 'Rent upstairs']);
      await assert.rejects(ana.ignore(line, 'Again'), WRONG);
      await ben.reopen(line);
      const again = await bank.line(line);
      assert.deepEqual([again.state, again.note], ['open', null]);
    });

    test('one line for two payments is split, each payment has its part, and both are taken back together', async () => {
      const [one, two] = [await pay(30), await pay(12.5)];
      const text = `${await referenceOf(service, one.id)} ${await referenceOf(service, two.id)}`;
      const line = await bring({ amount: '42.50', text, day: today(service) });
      const proposed = async () => {
        const { proposals } = (await bank.open()).find((each) => each.line.id === line)!;
        return proposals
          .flatMap(({ case: kind, payment }) => (kind === 'several' ? [payment.id] : []))
          .sort();
      };
      const both = [one.id, two.id].sort();
      assert.deepEqual(await proposed(), both);
      const now = (...some: Seen[]) => Promise.all(some.map(({ id }) => bank.payment(id)));
      const split = async (...some: Seen[]) => ana.split(line, await now(...some));
      // Nothing of it, if it comes to more than the amount, a payment is named twice or was changed.
      for (const some of [
        [one, one],
        [one, two, await pay(1)],
      ])
        await assert.rejects(split(...some), { ...WRONG, message: /do not come to the amount/ });
      await submit(service, two.id);
      await assert.rejects(ana.split(line, [one, two]), CONFLICT);
      const stateNow = async () => (await bank.line(line)).state;
      assert.deepEqual([await stateNow(), (await shown(one))[0]], ['open', 'pending']);

      await split(two, one);
      const parts = () => bank.partsOf(line);
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
      await split(one, two);
      assert.equal((await parts()).length, 2, 'a second press changes nothing');
      await ana.join(line);
      assert.deepEqual([await parts(), await stateNow()], [[], 'open']);
      assert.deepEqual([await received(one), await received(two)], ['0.00', '0.00']);
      assert.deepEqual(await proposed(), both);

      await split(one, two);
      await decide(service, one.id);
      await assert.rejects(ana.join(line), WRONG);
      assert.equal((await shown(two))[0], 'requires_review');
      // Of the payment that nobody has decided, its part alone can be taken back.
      await ana.reopen((await parts()).find(({ payment_id }) => payment_id === two.id)!.id);
      assert.equal(await received(two), '0.00');
    });

    test('transactions of an entry that was split are left out, and its words are erased with a payment', async () => {
      const [one, two] = [await pay(20), await pay(22)];
      const entry = { amount: '42.00', bank: 'SPLIT', day: today(service) };
      const line = await bring({ ...entry, text: 'Two orders' });
      await ana.split(line, [one, two]);
      const parts = [{ amount: '20.00' }, { amount: '22.00' }];
      assert.deepEqual(await bank.counts(camt([{ ...entry, parts }], { message: '054' })), [[0, 0, 2]]);
      // The bank's reference of the line, used again for other money.
      const later = camt([{ ...entry, day: today(service, 100 * DAY_MS) }], { number: '900' });
      assert.deepEqual(await bank.counts(later), [[1, 0, 0]]);
      await decide(service, one.id);
      await erase(service, one.id);
      assert.equal((await bank.line(line)).details, null);
      assert.deepEqual(
        new Map((await bank.partsOf(line)).map((part) => [part.payment_id, part.details === null])),
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
      const paid = await Promise.all([pay(61), pay(62), pay(63), pay(64), pay(65)]);
      const lines: string[] = [];
      for (const one of paid) lines.push(await bringFor(one));
      await submit(service, paid[4]!.id);
      await ben.claim(paid[4]!);
      const mine = (await bank.certain()).filter(({ line }) => lines.includes(line.id));
      assert.equal(mine.length, 5);
      const pairs = mine.map(({ line, payment }) => [line.id, payment] as [string, Seen]);
      // One is sent by its customer meanwhile, one line is ignored, one is not certain by now, and a colleague has one.
      await submit(service, paid[1]!.id);
      await ben.ignore(lines[2]!, 'Somebody else’s');
      const fresh = mine.filter(({ payment }) => payment.id !== paid[3]!.id);
      const { counters } = service.service.journal;
      const commits = counters.commits;
      const { decisions, left } = await ana.approveCertain(pairs, fresh);
      assert.equal(counters.commits, commits + 1);
      assert.deepEqual(
        decisions.map(({ payment, outcome }) => [payment.id, outcome]),
        [[paid[0]!.id, 'approved']],
      );
      const why = (i: number) => left.find(({ payment_id }) => payment_id === paid[i]!.id)?.why(ENGLISH);
      for (const [i, said] of [/changed/, /was first/, /not certain/, /Ben has it/].entries())
        assert.match(why(i + 1)!, said);
      assert.equal((await shown(paid[3]!))[0], 'pending');
    });

    test('what carries the same reference counts however old it is, and what cannot be looked at leaves nothing certain', async () => {
      const [two, back, free] = [await pay(71), await pay(72), await pay(73)];
      // Each on a day of its own, behind all other lines of the store.
      const on = (day: string, paid: Parameters<typeof bringFor>[0], more: Partial<Entry> = {}) =>
        bringFor(paid, { day: `2199-01-${day}`, ...more });
      const { short } = await referencesOf(service, two.id);
      const old = await on('01', two, { text: short.replace(/^(.{8})/, '$1-') });
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
