// Walks over one payment: money by hand, bank lines, refunds, undoing and decisions in any order. After each act every reader is told the same.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { formatAmount } from '../../../src/lib/money.ts';
import { Bank } from '../../support/bank.ts';
import { Bookkeeper } from '../../support/bookkeeper.ts';
import { TRANSFERS, today } from '../../support/camt.ts';
import { Clerk } from '../../support/clerk.ts';
import { isWhole } from '../../support/extent.ts';
import { sharedHarness } from '../../support/harness.ts';
import { referenceOf } from '../../support/payments.ts';
import { addReviewers } from '../../support/reviewers.ts';
import { SeededRandom } from '../../support/seeded-random.ts';

const service = sharedHarness('sqlite', { configuration: TRANSFERS });
const bank = new Bank(service);
const ana = new Clerk(bank);
let books: Bookkeeper;
before(async () => {
  await addReviewers(service.service.journal);
  books = await Bookkeeper.at(service);
});

/** What is asked for, and the sums that come, in minor units: those with a tenth come by bank alone. */
const KINDS = [
  { currency: 'EUR', asked: 8000, sums: [5000, 3000, 2000, 4000, 8000, 1] },
  { currency: 'KWD', asked: 300, sums: [150.5, 149.5, 100, 99.9, 300, 0.1] },
  { currency: 'JPY', asked: 90_000, sums: [30_000, 20_000, 10_000, 90_000] },
] as const;
const WALKS = isWhole ? 24 : 8;
const ACTS = 5;

/** A sum, in which tenths stay whole. */
const sumOf = (all: readonly number[]) => Math.round(10 * all.reduce((sum, one) => sum + one, 0)) / 10;

class Walk {
  readonly #id: string;
  readonly #kind: (typeof KINDS)[number];
  readonly #name: string;
  /** What was recorded by hand and stands on no line, what lines brought, and what went back. */
  #hand: number[] = [];
  #lines: { line: string; minor: number; shows: number }[] = [];
  #back: number[] = [];
  /** Lines that are matched with nothing. */
  #open: number[] = [];
  #isAssumed = false;
  #done: string[] = [];
  #count = 0;

  static async begin(number: number, kind: (typeof KINDS)[number]): Promise<Walk> {
    const { id } = await service.create({ amount: kind.asked / 100, currency: kind.currency });
    return new Walk(id, kind, `${number} ${kind.currency}`);
  }

  private constructor(id: string, kind: (typeof KINDS)[number], name: string) {
    this.#id = id;
    this.#kind = kind;
    this.#name = name;
  }

  /** What is known to have arrived and did not go back. Money by hand counts as far as no line shows it. */
  #known(): number {
    const shown = sumOf(this.#lines.map(({ shows }) => shows));
    const hand = this.#isAssumed ? [this.#kind.asked] : this.#hand;
    return sumOf([
      ...hand,
      -shown,
      ...this.#lines.map(({ minor }) => minor),
      ...this.#back.map((one) => -one),
    ]);
  }

  async #bring(minor: number, direction: 'CRDT' | 'DBIT'): Promise<string> {
    const { currency } = this.#kind;
    const bank = `W${this.#name}${++this.#count}`.replaceAll(' ', '');
    const text = await referenceOf(service, this.#id);
    const taken = await books.bring(
      [{ bank, amount: formatAmount(minor), currency, direction, text, day: today(service) }],
      { currency },
    );
    assert.ok(taken);
    return books.line(bank).id;
  }

  /** Does one act, if it can be done now. */
  async act(random: SeededRandom): Promise<void> {
    const payment = await bank.payment(this.#id);
    const isOpen = ['pending', 'requires_review', 'cancelled'].includes(payment.status);
    const minor = random.pick<number>(this.#kind.sums);
    const left = sumOf([...this.#hand, ...this.#lines.map(({ shows }) => -shows)]);
    const name = random.pick([
      'cash',
      'line',
      'line',
      'shown',
      'undo',
      'refund',
      'approve',
      'reject',
      'cancel',
    ]);
    const done = await this.#do(name, { payment, isOpen, minor, left });
    if (done) this.#done.push(`${name} ${minor}`);
  }

  async #do(
    name: string,
    {
      payment,
      isOpen,
      minor,
      left,
    }: { payment: Awaited<ReturnType<Bank['payment']>>; isOpen: boolean; minor: number; left: number },
  ): Promise<boolean> {
    const { status } = payment;
    const isKnown = this.#hand.length + this.#lines.length > 0;
    if (name === 'cash') {
      if (!isOpen || !Number.isInteger(minor) || (status === 'requires_review' && !isKnown)) return false;
      await ana.record(payment, minor);
      this.#hand.push(minor);
    } else if (name === 'line' || name === 'shown') {
      const isShown = name === 'shown';
      const isApproved = status === 'approved';
      // Every line shows what an approval was made for; a rejected payment keeps what comes.
      const can = isShown
        ? (isOpen || isApproved) && this.#hand.length === 1 && left > 0
        : isOpen || status === 'rejected' || (this.#isAssumed && this.#known() >= this.#kind.asked);
      if (!can || (isApproved && this.#back.length > 0)) return false;
      const line = await this.#bring(minor, 'CRDT');
      await this.#look(line, minor);
      const rest = sumOf([
        this.#isAssumed ? this.#kind.asked : left,
        ...(this.#isAssumed ? this.#lines.map(({ shows }) => -shows) : []),
      ]);
      if (this.#isAssumed && (rest <= 0 || this.#back.length > 0)) return this.#open.push(minor) < 0;
      await ana.match(line, payment, isShown ? 'same' : 'besides');
      this.#lines.push({ line, minor, shows: isShown || this.#isAssumed ? Math.min(minor, rest) : 0 });
    } else if (name === 'undo') {
      const last = this.#lines.at(-1);
      if (!last || !(isOpen || this.#isAssumed)) return false;
      await ana.reopen(last.line);
      this.#lines.pop();
      this.#open.push(last.minor);
    } else if (name === 'refund') {
      if (this.#known() < minor) return false;
      const line = await this.#bring(minor, 'DBIT');
      await ana.match(line, payment);
      this.#back.push(minor);
    } else if (name === 'cancel') {
      if (status !== 'pending') return false;
      await service.request(`/v1/payments/${this.#id}/cancel`, { method: 'POST' });
    } else {
      if (status !== 'requires_review') return false;
      await ana.decide(payment, name === 'approve' ? name : 'reject');
      this.#isAssumed = name === 'approve' && !isKnown;
    }
    return true;
  }

  /** What is proposed for a line that came: money that is owed is never returned. */
  async #look(line: string, minor: number): Promise<void> {
    const all = await bank.open();
    const proposal = all
      .find((one) => one.line.id === line)
      ?.proposals.find(({ payment }) => payment.id === this.#id);
    const name = `${this.#name}: ${this.#done.join(', ')}, ${minor}: ${proposal?.sentence} ${proposal?.act}`;
    assert.ok(proposal, name);
    const owed = sumOf([this.#kind.asked, -this.#known(), ...this.#open.map((one) => -one)]);
    if (minor <= owed && !['rejected', 'cancelled'].includes(proposal.payment.status))
      assert.doesNotMatch(proposal.act, /return/i, name);
    if (proposal.level === 'certain') assert.equal(this.#known(), 0, name);
  }

  /** Reads what program, customer and administrator are told. */
  async read(): Promise<void> {
    const name = `${this.#name}: ${this.#done.join(', ')}`;
    const { asked, currency } = this.#kind;
    const known = Math.max(0, this.#known());
    const { data } = (await service.request(`/v1/payments/${this.#id}`)).json;
    assert.equal(data.amount_received, formatAmount(Math.floor(known)), name);
    const due = ['pending', 'requires_review'].includes(data.status)
      ? Math.max(0, asked - Math.floor(known))
      : 0;
    assert.equal(data.amount_due, formatAmount(due), name);
    const { body } = await books.reads(this.#id);
    if (known === 0 || known === asked || this.#back.length > 0) return;
    const sum = currency === 'JPY' ? formatAmount(known).slice(0, -3) : formatAmount(known);
    const told = body.replaceAll(/[,\u00a0\u200e]/g, (mark) => (mark === ',' ? '' : ' '));
    assert.match(
      told,
      new RegExp(`(?<![\\d.])${sum.replace('.', '\\.')}(?![\\d])`),
      `${name}: ${known}: ${told.slice(0, 700)}`,
    );
  }
}

test('whatever is done in a row, program and customer read the sum of what is known, each once', async () => {
  const random = new SeededRandom(7);
  for (let number = 0; number < WALKS; number++) {
    const walk = await Walk.begin(number, random.pick(KINDS));
    for (let act = 0; act < ACTS; act++) {
      await walk.act(random);
      await walk.read();
    }
  }
});
