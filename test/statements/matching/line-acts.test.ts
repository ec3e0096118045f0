// Accepting, approving, ignoring and reopening bank lines: what becomes of line and payment, what is refused, and what the history holds.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readStatements } from '#bank-statements';
import type { Transaction } from '../../../src/journal/transaction.ts';
import { ENGLISH } from '../../../src/lib/phrases.ts';
import {
  creditorReference,
  shortReference,
} from '../../../src/payments/methods/transfer/creditor-reference.ts';
import type { Payment } from '../../../src/payments/payment.ts';
import { presentPayment } from '../../../src/payments/present.ts';
import { findPayment } from '../../../src/payments/queries.ts';
import { claim } from '../../../src/review/act.ts';
import { approve } from '../../../src/review/decide.ts';
import { factsOf } from '../../../src/review/facts.ts';
import { recordMoney } from '../../../src/review/record-money.ts';
import { arrivalsOf, receivedSoFar, returnedSoFar } from '../../../src/review/review.ts';
import { bookedBetween } from '../../../src/statements/balance-queries.ts';
import { eraseLinesOf } from '../../../src/statements/erase.ts';
import { checkFile, importFile } from '../../../src/statements/import-file.ts';
import { findLine, listLines, partsOfLine } from '../../../src/statements/line-queries.ts';
import { onStatement } from '../../../src/statements/matching/bank-fact.ts';
import { approveCertain } from '../../../src/statements/matching/certain-acts.ts';
import {
  acceptLine,
  approveLine,
  ignoreLine,
  reopenLine,
} from '../../../src/statements/matching/line-acts.ts';
import { acceptParts, reopenParts, severalOf } from '../../../src/statements/matching/line-parts.ts';
import type { LineCase } from '../../../src/statements/matching/matrix.ts';
import { certainPairs, openLines } from '../../../src/statements/matching/open-lines.ts';
import { submit } from '../../campaigns/history.ts';
import { ACCOUNT, camt, type Entry, MATCHING, today } from '../../support/camt.ts';
import { load, open } from '../../support/customer.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { editOutside } from '../../support/outside.ts';
import { ANA, BEN, haveReviewers } from '../../support/reviewers.ts';
import { ENGINES } from '../../support/stores.ts';

const METHODS = [{ accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] }];
const ACT = { actor: 'operator', request_id: null };
const CONFLICT = { code: 'conflict' };
const WRONG = { code: 'invalid_status' };

for (const engine of ENGINES) {
  describe(`acts on bank lines on ${engine}`, () => {
    let service: Harness;
    before(async () => {
      service = await startHarness(engine);
      await haveReviewers(service.service);
    });
    after(async () => {
      await service.verify();
      await service.close();
    });

    let count = 0;
    const commit = <T>(work: (transaction: Transaction) => Promise<T>, row = '') =>
      service.service.journal.commit(work, row);
    const payment = async (id: string) => {
      service.service.database.refresh();
      return (await findPayment(service.service.database, id))!;
    };
    const lineNow = async (id: string) => {
      service.service.database.refresh();
      return (await findLine(service.service.database, id))!;
    };
    async function pay(amount = 49.9): Promise<Payment> {
      return payment((await service.create({ amount, currency: 'EUR' })).id);
    }
    /** Imports a line and returns its id. */
    async function bring(entry: Partial<Entry> = {}): Promise<string> {
      const bank = entry.bank ?? `L${++count}`;
      const file = camt([{ amount: '49.90', ...entry, bank }], { number: String(count) });
      const { journal, database } = service.service;
      const options = { despiteFaults: false, dryRun: false };
      await importFile(journal, checkFile(readStatements(file, 'a.xml'), METHODS), ACT, options);
      database.refresh();
      const lines = await listLines(database, {}, undefined, 1000);
      return lines.find(({ entry_reference }) => entry_reference === bank)!.id;
    }
    const pairOf = (line_id: string, { id, version }: Payment) => ({ line_id, payment_id: id, version });

    const factsNow = (payment: Payment) => {
      const context = { now: service.clock.now(), timeZone: 'UTC' };
      return factsOf(service.service.database, payment, context, onStatement);
    };

    test('a line for a payment that nobody announced brings it under review, with amount, day and reference', async () => {
      const [paid, line] = [await pay(), await bring({ amount: '40.00' })];
      await commit((one) => acceptLine(one, ANA, pairOf(line, paid)));
      const after = await payment(paid.id);
      assert.equal(after.status, 'requires_review');
      const [receipt] = arrivalsOf(after).filter(({ act }) => act === 'record');
      assert.deepEqual(
        [receipt!.amount_minor, receipt!.received_on, receipt!.bank_reference],
        [4000, '2026-11-20', `L${count}`],
      );
      const { state, payment_id } = await lineNow(line);
      assert.deepEqual([state, payment_id], ['matched', paid.id]);
    });

    test('a line is not matched with a payment that a colleague has claimed', async () => {
      const [paid, line] = [await pay(), await bring()];
      await submit(service, paid.id);
      await commit((one) => claim(one, BEN, paid.id, {}), paid.id);
      const pair = pairOf(line, await payment(paid.id));
      await assert.rejects(
        commit((one) => acceptLine(one, ANA, pair)),
        { ...CONFLICT, message: /Ben has it until/ },
      );
      await commit((one) => acceptLine(one, BEN, pair));
      assert.equal((await lineNow(line)).state, 'matched');
    });

    test('a payment that was sent for review keeps what was sent, and its approval carries the bank’s reference', async () => {
      const [paid, line] = [await pay(), await bring()];
      await submit(service, paid.id);
      const pair = pairOf(line, await payment(paid.id));
      const { outcome } = await commit((one) => approveLine(one, ANA, pair, {}));
      assert.equal(outcome, 'approved');
      const after = await payment(paid.id);
      assert.deepEqual([after.status, after.bank_reference], ['approved', `L${count}`]);
      assert.deepEqual(
        arrivalsOf(after).filter(({ act }) => act === 'record'),
        [],
      );
    });

    test('a line matched under review is told to merchant and customer, who is asked for the rest until it is taken back', async () => {
      const paid = await pay();
      await submit(service, paid.id);
      const told = async () => {
        const { data } = (await service.request(`/v1/events?payment_id=${paid.id}`)).json;
        return data.map(({ type, data }: { type: string; data: { status: string } }) => [type, data.status]);
      };
      const page = (query = '') =>
        load(new URL(`${service.service.checkoutBaseUrl}/payment.php?payment_id=${paid.id}${query}`));
      const before = (await page()).body;
      const line = await bring({ amount: '40.00' });
      await commit((one) => acceptLine(one, ANA, { line_id: line, payment_id: paid.id, version: 2 }));
      const seen = await payment(paid.id);
      assert.deepEqual(
        [receivedSoFar(seen), arrivalsOf(seen).filter(({ act }) => act === 'record')],
        [4000, []],
      );
      const events = ['payment.created', 'payment.submitted', 'payment.money_received'];
      assert.deepEqual(
        (await told()).map(([type]: string[]) => type),
        events,
      );
      assert.deepEqual((await told()).at(-1), ['payment.money_received', 'requires_review']);
      const part = (await page()).body;
      assert.match(part, /€40\.00 of €49\.90 has arrived\. €9\.90 is left to pay\./);
      const rest = await bring({ amount: '9.90' });
      await commit((one) => acceptLine(one, ANA, pairOf(rest, seen)));
      assert.equal(receivedSoFar(await payment(paid.id)), 4990);
      const whole = (await page()).body;
      assert.match(whole, /€49\.90 has arrived\./);
      assert.doesNotMatch(whole, /left to pay|Transfer exactly/);
      for (const one of [line, rest]) await commit((transaction) => reopenLine(transaction, ANA, one));
      assert.equal(receivedSoFar(await payment(paid.id)), 0);
      assert.equal((await page()).body, before);
    });

    test('what was matched is a fact about the payment, worth a look where the amount differs', async () => {
      const [paid, line] = [await pay(), await bring({ amount: '40.00', name: 'Zoë Berg' })];
      await commit((one) => acceptLine(one, ANA, pairOf(line, paid)));
      const facts = await factsNow(await payment(paid.id));
      const { tone, text } = facts.find(({ kind }) => kind === 'on_statement')!;
      assert.deepEqual(
        [tone, text],
        [
          'notice',
          'EUR 40.00 stands on the bank statement of 20 Nov 2026, from “Zoë Berg”: EUR 9.90 less than was asked for.',
        ],
      );
      const other = await factsNow(await pay());
      assert.ok(!other.some(({ kind }) => kind === 'on_statement'));
    });

    const byHand = async (paid: Payment, amount_minor: number, bank_reference: string | null = null) => {
      const money = { amount_minor, received_on: '2026-11-20', bank_reference, note: null, version: null };
      await commit((one) => recordMoney(one, ANA, paid.id, money));
      return payment(paid.id);
    };

    test('a line of an amount that was recorded by hand is the same money only if somebody says so', async () => {
      const [paid, line] = [await pay(60), await bring({ amount: '30.00' })];
      const seen = await byHand(paid, 3000);
      await assert.rejects(
        commit((one) => acceptLine(one, ANA, pairOf(line, seen))),
        /say whether the line shows it, or more money/,
      );
      await commit((one) => acceptLine(one, ANA, { ...pairOf(line, seen), as: 'same' }));
      assert.equal(receivedSoFar(await payment(paid.id)), 3000);
      await commit((one) => reopenLine(one, ANA, line));
      assert.equal(receivedSoFar(await payment(paid.id)), 3000);
      const again = { ...pairOf(line, await payment(paid.id)), as: 'besides' as const };
      await commit((one) => acceptLine(one, ANA, again));
      assert.equal(receivedSoFar(await payment(paid.id)), 6000);
    });

    test('a line with the bank’s reference that was typed by hand is the same money', async () => {
      const [paid, line] = [await pay(51), await bring({ amount: '51.00' })];
      const seen = await byHand(paid, 5100, `l ${count}`);
      await commit((one) => acceptLine(one, ANA, pairOf(line, seen)));
      assert.equal(receivedSoFar(await payment(paid.id)), 5100);
    });

    test('a line is linked with the money that a payment was approved for, without a decision, and a second one is not', async () => {
      const paid = await pay(51);
      await submit(service, paid.id);
      const approval = { note: null, bank_reference: 'BK51', version: null };
      await commit((one) => approve(one, ANA, paid.id, approval, {}));
      const text = creditorReference(paid);
      const line = await bring({ amount: '51.00', text, bank: 'BK51', day: today(service) });
      const first = async (id: string) => {
        const open = await openLines(service.service.database, { ...MATCHING, now: service.clock.now() });
        const [proposal] = open.find((one) => one.line.id === id)!.proposals;
        return [proposal!.payment.id, proposal!.level, proposal!.case, proposal!.button];
      };
      assert.deepEqual(await first(line), [paid.id, 'certain', 'recorded', 'link']);
      const certain = certainPairs(
        await openLines(service.service.database, { ...MATCHING, now: service.clock.now() }),
      );
      const pair = pairOf(line, await payment(paid.id));
      const done = await commit((one) => approveCertain(one, ANA, [pair], certain, {}));
      assert.deepEqual([done.decisions, done.linked, done.left], [[], [pair], []]);
      const after = await payment(paid.id);
      assert.deepEqual(
        [after.status, after.decided_at, receivedSoFar(after)],
        ['approved', after.decided_at, 5100],
      );
      const { data } = (await service.request(`/v1/events?payment_id=${paid.id}`)).json;
      assert.equal(data.at(-1).type, 'payment.approved');
      // What was linked after the decision can be taken back; another line is money to return.
      await commit((one) => reopenLine(one, ANA, line));
      await commit(async (one) => acceptLine(one, ANA, pairOf(line, await payment(paid.id))));
      const second = await bring({ amount: '51.00', text, day: today(service) });
      assert.deepEqual(await first(second), [paid.id, 'possible', 'twice', 'none']);
      await assert.rejects(
        commit(async (one) => acceptLine(one, ANA, pairOf(second, await payment(paid.id)))),
        /approved already/,
      );
    });

    type Further = [minor: number, byLine: LineCase, byHand: LineCase, received: number];
    const furthers: [string, first: number, others: Further[]][] = [
      ['in one file or a day apart', 5000, [[3000, 'rest', 'recorded', 8000]]],
      [
        'in three parts',
        3000,
        [
          [3000, 'rest', 'recorded_other', 6000],
          [2000, 'rest', 'recorded', 8000],
          [2000, 'twice', 'twice', 8000],
        ],
      ],
      [
        'and more than the rest',
        5000,
        [
          [4000, 'rest', 'recorded_other', 9000],
          [100, 'twice', 'twice', 9000],
        ],
      ],
    ];
    for (const how of engine === 'sqlite' ? (['by hand', 'by a line'] as const) : [])
      for (const [name, first, others] of furthers)
        test(`what was approved ${how} comes in parts, ${name}: each is linked`, async () => {
          const paid = await pay(80);
          const text = creditorReference(paid);
          const come = (minor: number) =>
            bring({ amount: (minor / 100).toFixed(2), text, day: today(service) });
          if (how === 'by hand') {
            await submit(service, paid.id);
            const approval = { note: null, bank_reference: null, version: null };
            await commit((one) => approve(one, ANA, paid.id, approval, {}));
          }
          const line = await come(first);
          if (how === 'by hand')
            await commit(async (one) => acceptLine(one, ANA, pairOf(line, await payment(paid.id))));
          else await commit((one) => approveLine(one, ANA, pairOf(line, paid), {}, 'A part'));
          const isHand = how === 'by hand';
          // What was approved by hand stays known until lines show it.
          const known = (received: number) => (isHand ? Math.max(8000, received) : received);
          assert.equal(receivedSoFar(await payment(paid.id)), known(first));
          for (const [minor, byLine, handKind, received] of others) {
            const kind = isHand ? handKind : byLine;
            const further = await come(minor);
            const open = await openLines(service.service.database, { ...MATCHING, now: service.clock.now() });
            const [proposal] = open.find((one) => one.line.id === further)!.proposals;
            assert.deepEqual(
              [proposal!.case, proposal!.level],
              [kind, kind === 'recorded' ? 'likely' : 'possible'],
            );
            const linked = commit(async (one) =>
              acceptLine(one, ANA, pairOf(further, await payment(paid.id))),
            );
            if (kind === 'twice') await assert.rejects(linked, /approved already/);
            else await linked;
            const after = await payment(paid.id);
            assert.deepEqual([after.status, receivedSoFar(after)], ['approved', known(received)]);
            const { data } = (await service.request(`/v1/events?payment_id=${paid.id}`)).json;
            if (kind === 'rest') assert.equal(data.at(-1).type, 'payment.money_received');
          }
        });

    test('a debit is matched as money that went back, whatever the payment’s status, and the facts say so', async () => {
      const paid = await pay(100);
      const text = creditorReference(paid);
      const line = await bring({ amount: '100.00', text, day: today(service) });
      await commit((one) => approveLine(one, ANA, pairOf(line, paid), {}));
      const debit = await bring({
        amount: '30.00',
        direction: 'DBIT',
        text: `Refund ${text}`,
        day: today(service),
      });
      const proposed = await openLines(service.service.database, { ...MATCHING, now: service.clock.now() });
      const [proposal] = proposed.find((one) => one.line.id === debit)!.proposals;
      assert.deepEqual([proposal!.case, proposal!.button], ['went_out', 'back']);
      await commit(async (one) => acceptLine(one, ANA, pairOf(debit, await payment(paid.id))));
      const after = await payment(paid.id);
      assert.deepEqual([after.status, receivedSoFar(after), returnedSoFar(after)], ['approved', 7000, 3000]);
      const shown = JSON.parse(presentPayment(after, 'https://pay.example', service.clock.now()));
      assert.deepEqual(
        [shown.amount_received, shown.amount_returned, shown.amount_due],
        ['70.00', '30.00', '0.00'],
      );
      assert.match(
        (await open(service, paid.id)).body,
        /€100\.00 to .* is confirmed\. €30\.00 was paid back\./,
      );
      const facts = await factsNow(after);
      const { text: said, tone } = facts.find(({ kind }) => kind === 'on_statement')!;
      assert.match(
        said,
        /^EUR 100\.00 stands on .*, and EUR 30\.00 went back on .*: EUR 30\.00 less than was asked for\.$/,
      );
      assert.equal(tone, 'notice');
      await commit((one) => reopenLine(one, ANA, debit));
      assert.equal(receivedSoFar(await payment(paid.id)), 10_000);
    });

    test('money that went back counts whatever becomes of the debit', async () => {
      const paid = await pay(20.39);
      const text = creditorReference(paid);
      const line = await bring({ amount: '20.39', text, day: today(service), name: 'Boris Beispiel' });
      const debit = await bring({
        amount: '20.39',
        text,
        day: today(service),
        direction: 'DBIT',
        reversal: true,
      });
      await commit((one) => ignoreLine(one, ANA, debit, 'The bank took it back'));
      service.service.database.refresh();
      const open = await openLines(service.service.database, { ...MATCHING, now: service.clock.now() });
      const [proposal] = open.find((one) => one.line.id === line)!.proposals;
      assert.deepEqual([proposal!.level, proposal!.case], ['possible', 'taken_back']);
      assert.ok(!certainPairs(open).some((pair) => pair.line.id === line));
    });

    test('a reversal to the same payer takes back a line though it carries no reference', async () => {
      const paid = await pay(20.41);
      const entry = { amount: '20.41', day: today(service), name: 'Boris Beispiel' };
      const line = await bring({ ...entry, text: creditorReference(paid) });
      const sure = await bring({ ...entry, amount: '20.40', text: creditorReference(await pay(20.4)) });
      await bring({ ...entry, text: 'Rücküberweisung AC04', direction: 'DBIT', reversal: true });
      const open = await openLines(service.service.database, { ...MATCHING, now: service.clock.now() });
      const level = (id: string) => open.find((one) => one.line.id === id)!.proposals[0]!.level;
      assert.deepEqual([level(line), level(sure)], ['possible', 'certain']);
    });

    test('the days of two lines of one day stand once in the fact', async () => {
      const [paid, one, two] = [
        await pay(50),
        await bring({ amount: '20.00' }),
        await bring({ amount: '30.00' }),
      ];
      for (const line of [one, two])
        await commit(async (work) => acceptLine(work, ANA, pairOf(line, await payment(paid.id))));
      const facts = await factsNow(await payment(paid.id));
      assert.match(
        facts.find(({ kind }) => kind === 'on_statement')!.text,
        /statement of 20 Nov 2026: exactly/,
      );
    });

    test('more than was asked for is to be returned to its payer', async () => {
      const [paid, line] = [await pay(), await bring({ amount: '59.90', name: 'Zoë Berg' })];
      await commit((one) => acceptLine(one, ANA, pairOf(line, paid)));
      const facts = await factsNow(await payment(paid.id));
      const { text } = facts.find(({ kind }) => kind === 'on_statement')!;
      assert.match(text, /EUR 10\.00 more than was asked for\. Return EUR 10\.00 to “Zoë Berg”/);
    });

    test('above the four-eyes limit an approval is the first of two', async () => {
      const [paid, line] = [await pay(), await bring()];
      const { outcome } = await commit((one) => approveLine(one, ANA, pairOf(line, paid), { EUR: 1000 }));
      assert.equal(outcome, 'awaiting_second');
      assert.equal((await payment(paid.id)).status, 'requires_review');
    });

    test('refused: a line twice, another version, another currency, a pending line, a decided payment', async () => {
      const [paid, line] = [await pay(), await bring()];
      await assert.rejects(
        commit((one) => acceptLine(one, ANA, { ...pairOf(line, paid), version: 7 })),
        CONFLICT,
      );
      const submitted = await pay();
      await submit(service, submitted.id);
      await assert.rejects(
        commit((one) => acceptLine(one, ANA, pairOf(line, submitted))),
        CONFLICT,
      );
      await commit((one) => acceptLine(one, ANA, pairOf(line, paid)));
      const seen = await payment(paid.id);
      await assert.rejects(
        commit((one) => acceptLine(one, BEN, pairOf(line, seen))),
        WRONG,
      );
      const dollars = await payment((await service.create({ amount: 49.9, currency: 'USD' })).id);
      const other = await bring();
      await assert.rejects(
        commit((one) => acceptLine(one, ANA, pairOf(other, dollars))),
        /The line is in EUR, the payment in USD/,
      );
      const [unpaid, pending] = [await pay(), await bring({ status: 'PDNG' })];
      await assert.rejects(
        commit((one) => acceptLine(one, ANA, pairOf(pending, unpaid))),
        /no credit that was booked/,
      );
      const [decided, first] = [await pay(), await bring()];
      await commit((one) => approveLine(one, ANA, pairOf(first, decided), {}));
      const approved = await payment(decided.id);
      await assert.rejects(
        commit((one) => acceptLine(one, ANA, pairOf(other, approved))),
        /approved already/,
      );
      assert.equal((await lineNow(other)).state, 'open');
    });

    test('a second line for a payment that has one is told, and a matched entry stays when its transactions come', async () => {
      // References of one second begin alike where their check digits are the same, one in 97: debits before name payments of theirs.
      service.clock.advance(2000);
      const paid = await pay(49.9);
      const text = creditorReference(paid);
      const line = await bring({ text });
      await commit((one) => acceptLine(one, ANA, pairOf(line, paid)));
      const second = await bring({ text });
      const lines = await openLines(service.service.database, { ...MATCHING, now: service.clock.now() });
      const [proposal] = lines.find((one) => one.line.id === second)!.proposals;
      assert.deepEqual(
        [proposal!.case, proposal!.level, proposal!.sentence.split('. ')[0]],
        ['twice', 'possible', 'The money of this payment arrived on 20 Nov 2026 already'],
      );
      const parts = [{ amount: '40.00' }, { amount: '9.90' }];
      const bank = (await lineNow(line)).entry_reference!;
      const details = camt([{ amount: '49.90', bank, parts }], { message: '054' });
      const { journal } = service.service;
      const options = { despiteFaults: false, dryRun: false };
      const checked = checkFile(readStatements(details, 'details.xml'), METHODS);
      const [came] = (await importFile(journal, checked, ACT, options))!;
      assert.deepEqual([came!.added, came!.known], [0, 2]);
      assert.equal((await lineNow(line)).state, 'matched');
    });

    test('an ignored line has its reason, and can be opened again', async () => {
      const line = await bring();
      await commit((one) => ignoreLine(one, ANA, line, 'Rent of the flat upstairs'));
      const ignored = await lineNow(line);
      assert.deepEqual([ignored.state, ignored.note], ['ignored', 'Rent of the flat upstairs']);
      await assert.rejects(
        commit((one) => ignoreLine(one, ANA, line, 'Again')),
        WRONG,
      );
      await commit((one) => reopenLine(one, BEN, line));
      const open = await lineNow(line);
      assert.deepEqual([open.state, open.note], ['open', null]);
    });

    test('a match is taken back while nobody has decided, and not after', async () => {
      const [paid, line] = [await pay(), await bring()];
      await commit((one) => acceptLine(one, ANA, pairOf(line, paid)));
      await commit((one) => reopenLine(one, ANA, line));
      const open = await lineNow(line);
      assert.deepEqual([open.state, open.payment_id], ['open', null]);
      const seen = await payment(paid.id);
      await commit((one) => approveLine(one, ANA, pairOf(line, seen), {}));
      await assert.rejects(
        commit((one) => reopenLine(one, ANA, line)),
        /a decision cannot be taken back/,
      );
    });

    test('one line for two payments is split, each payment has its part, and both are taken back together', async () => {
      const [one, two] = [await pay(30), await pay(12.5)];
      const text = `${creditorReference(one)} ${creditorReference(two)}`;
      const line = await bring({ amount: '42.50', text, day: today(service) });
      const proposed = async () => {
        service.service.database.refresh();
        const open = await openLines(service.service.database, { ...MATCHING, now: service.clock.now() });
        return severalOf({ amount_minor: 4250 }, open.find((each) => each.line.id === line)?.proposals ?? []);
      };
      assert.deepEqual(new Set((await proposed()).map(({ id }) => id)), new Set([one.id, two.id]));
      const pairs = async (...ids: string[]) =>
        Promise.all(ids.map(async (id) => ({ payment_id: id, version: (await payment(id)).version })));
      const split = async (...ids: string[]) => {
        const some = await pairs(...ids);
        await commit((work) => acceptParts(work, ANA, line, some));
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
        commit((work) => acceptParts(work, ANA, line, old)),
        CONFLICT,
      );
      assert.deepEqual([(await lineNow(line)).state, (await payment(one.id)).status], ['open', 'pending']);

      const money = { account: ACCOUNT, currency: 'EUR' };
      const booked = () => bookedBetween(service.service.database, money, '2026-01-01', '2999-01-01');
      const sum = await booked();
      await split(two.id, one.id);
      service.service.database.refresh();
      assert.equal(await booked(), sum);
      const parts = async () => partsOfLine(service.service.database, await lineNow(line));
      assert.deepEqual(
        new Map((await parts()).map(({ payment_id, amount_minor }) => [payment_id, amount_minor])),
        new Map([
          [one.id, 3000],
          [two.id, 1250],
        ]),
      );
      assert.equal((await lineNow(line)).state, 'split');
      for (const { id, amount_minor } of [one, two])
        assert.deepEqual(
          [(await payment(id)).status, receivedSoFar(await payment(id))],
          ['requires_review', amount_minor],
        );
      await split(one.id, two.id);
      assert.equal((await parts()).length, 2, 'a second press changes nothing');
      await commit((work) => reopenParts(work, ANA, line));
      assert.deepEqual([await parts(), (await lineNow(line)).state], [[], 'open']);
      assert.deepEqual([receivedSoFar(await payment(one.id)), receivedSoFar(await payment(two.id))], [0, 0]);
      assert.equal((await proposed()).length, 2);

      await split(one.id, two.id);
      const decided = { note: null, bank_reference: null, version: null };
      await commit((work) => approve(work, ANA, one.id, decided, {}), one.id);
      await assert.rejects(
        commit((work) => reopenParts(work, ANA, line)),
        /a decision cannot be taken back/,
      );
      assert.equal((await payment(two.id)).status, 'requires_review');
      // Of the payment that nobody has decided, its part alone can be taken back.
      const other = (await parts()).find(({ payment_id }) => payment_id === two.id)!;
      await commit((work) => reopenLine(work, ANA, other.id));
      assert.equal(receivedSoFar(await payment(two.id)), 0);
    });

    test('transactions of an entry that was split are left out, and its words are erased with a payment', async () => {
      const [one, two] = [await pay(20), await pay(22)];
      const line = await bring({ amount: '42.00', text: 'Two orders', day: today(service) });
      const pairs = [one, two].map(({ id, version }) => ({ payment_id: id, version }));
      await commit((work) => acceptParts(work, ANA, line, pairs));
      const parts = [{ amount: '20.00' }, { amount: '22.00' }];
      const file = camt([{ amount: '42.00', bank: `L${count}`, parts }], { message: '054' });
      const { journal, database } = service.service;
      const checked = checkFile(readStatements(file, 'd.xml'), METHODS);
      const options = { despiteFaults: false, dryRun: false };
      const [imported] = (await importFile(journal, checked, ACT, options))!;
      assert.deepEqual([imported!.added, imported!.known], [0, 2]);
      // The bank's reference of the line, used again for other money.
      const later = camt([{ amount: '42.00', bank: `L${count}`, day: '2027-03-01' }], { number: '900' });
      const again = checkFile(readStatements(later, 'e.xml'), METHODS);
      assert.equal((await importFile(journal, again, ACT, options))![0]!.added, 1);
      await commit((work) => eraseLinesOf(work, one.id, ACT));
      assert.equal((await lineNow(line)).details, null);
      const kept = await partsOfLine(database, await lineNow(line));
      assert.deepEqual(
        kept.map(({ payment_id, details }) => [payment_id, details === null]).sort(),
        [
          [one.id, true],
          [two.id, false],
        ].sort(),
      );
    });

    test('nobody acts on a line that was changed in the store itself', async () => {
      const [paid, line] = [await pay(), await bring()];
      const set = (minor: number) =>
        editOutside(service.store, `update statement_lines set amount_minor = ${minor} where id = '${line}'`);
      await set(999_900);
      service.service.database.refresh();
      await assert.rejects(
        commit((one) => acceptLine(one, ANA, pairOf(line, paid))),
        CONFLICT,
      );
      await set(4990);
      assert.equal((await payment(paid.id)).status, 'pending');
    });

    test('the certain ones are approved in one commit, and each that changed meanwhile is left and named', async () => {
      const paid = await Promise.all([pay(61), pay(62), pay(63), pay(64)]);
      const lines: string[] = [];
      for (const one of paid)
        lines.push(
          await bring({
            amount: `${one.amount_minor / 100}.00`,
            text: creditorReference(one),
            day: today(service),
          }),
        );
      const { database, journal } = service.service;
      const now = service.clock.now();
      const certain = certainPairs(await openLines(database, { ...MATCHING, now }));
      const mine = certain.filter(({ payment }) => paid.some(({ id }) => id === payment.id));
      assert.equal(mine.length, 4);
      const pairs = mine.map(({ line, payment }) => pairOf(line.id, payment));
      // One is sent by its customer meanwhile, one line is ignored, and one is not certain by now.
      await submit(service, paid[1]!.id);
      await commit((one) => ignoreLine(one, BEN, lines[2]!, 'Somebody else’s'));
      const fresh = mine.filter(({ payment }) => payment.id !== paid[3]!.id);
      const commits = journal.counters.commits;
      const { decisions, left } = await commit((one) => approveCertain(one, ANA, pairs, fresh, {}));
      assert.equal(journal.counters.commits, commits + 1);
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
      assert.equal((await payment(paid[3]!.id)).status, 'pending');
    });

    test('what carries the same reference counts however old it is, and what cannot be looked at leaves nothing certain', async () => {
      const [two, back, free] = [await pay(71), await pay(72), await pay(73)];
      // Each on a day of its own, behind all other lines of the store.
      const on = (day: string, paid: Payment, more: Partial<Entry> = {}) =>
        bring({
          amount: `${paid.amount_minor / 100}.00`,
          text: creditorReference(paid),
          day: `2199-01-${day}`,
          ...more,
        });
      const old = await on('01', two, { text: shortReference(two).replace(/^(.{8})/, '$1-') });
      await on('02', back, { direction: 'DBIT' });
      await on('03', back, { direction: 'DBIT', text: 'Rent' });
      for (const day of ['04', '05']) await on(day, free, { text: 'For nobody' });
      const lines = [await on('06', two), await on('07', back), await on('08', free)];
      service.service.database.refresh();
      const told = async (options: Parameters<typeof openLines>[2]) => {
        const all = await openLines(
          service.service.database,
          { ...MATCHING, now: service.clock.now() },
          options,
        );
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
      const also = [await lineNow(old)];
      assert.deepEqual(await told({ shown: 3, also }), [rival, away, sure, rival]);
      const alone = { shown: 1, also: [await lineNow(lines[1]!)] };
      assert.deepEqual(await told(alone), [undefined, away, sure, undefined]);
      const unseen = ['likely', 'unseen'];
      assert.deepEqual(await told({ shown: 3, older: 1 }), [unseen, away, unseen, undefined]);
    });
  });
}
