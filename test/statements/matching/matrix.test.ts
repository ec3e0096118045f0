// The matrix of bank lines and payments: every cell of a line alone, made in a store. What stands beside it: matrix-pages.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { matchingPage } from '../../../scripts/matching-page.ts';
import { DAY_MS } from '../../../src/lib/time.ts';
import { creditorReference } from '../../../src/payments/methods/transfer/creditor-reference.ts';
import { MATRIX, rowOf } from '../../../src/statements/matching/matrix.ts';
import { DIMENSIONS, type MatrixCell } from '../../../src/statements/matching/matrix-words.ts';
import { propose } from '../../../src/statements/matching/propose.ts';
import { MATCHING } from '../../support/camt.ts';
import { isWhole, sampled } from '../../support/extent.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { month, storePayments } from '../../support/months.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { expected, mayReturn } from './bookkeeper-rules.ts';

type Payment = ReturnType<typeof month>['payments'][number];
type BankLine = Parameters<typeof propose>[1][number];
type Proposal = Awaited<ReturnType<typeof propose>>[number]['proposals'][number];

const ZONE = 'Europe/Berlin';
const CREATED = Date.UTC(2026, 9, 20, 22, 30); // 21 October in Berlin
const ENDS = Date.UTC(2026, 9, 23, 22, 30); // Saturday 24 October in Berlin, so Monday is in time
const IMPORTED = Date.UTC(2026, 10, 5);
/** Days of lines by where they lie: both ends of what is in time, and the days beside them. */
const DAYS: [MatrixCell['day'], string][] = [
  ['none', ''],
  ['before', '2026-10-20'],
  ['in_time', '2026-10-21'],
  ['in_time', '2026-10-26'],
  ['after', '2026-10-27'],
];
const ASKED = 100_000;
const HAND_VERSION = 2;

const keys = <D extends keyof MatrixCell>(dimension: D) =>
  Object.keys(DIMENSIONS[dimension]) as MatrixCell[D][];
/** The ways in which a payment comes to its state: what was known of its money by hand, and without. */
const STATES: [MatrixCell['came'], MatrixCell['hand']][] = [
  ...(['pending', 'announced', 'cancelled', 'expired', 'rejected', 'short'] as const).map(
    (came): [MatrixCell['came'], MatrixCell['hand']] => [came, 'none'],
  ),
  ...(['part', 'received', 'approved'] as const).flatMap((came) =>
    keys('hand').map((hand): [MatrixCell['came'], MatrixCell['hand']] => [came, hand]),
  ),
];

interface Made {
  cell: MatrixCell;
  payment: Payment;
  line: BankLine;
}

/** Base payments, of which each test case takes its own: ids, salts and amounts that no other has. */
let bases: Payment[] = [];
let service: Harness;
before(async () => {
  service = await startHarness('sqlite');
  bases = month(new SeededRandom(1), isWhole ? 9000 : 1500).payments;
});
after(() => service.close());

let made = 0;
/** Makes a payment and a line that are a cell; undefined if there can be no such thing. */
function make(cell: MatrixCell, day: string): Made | undefined {
  const { came, hand, by, payer, amount } = cell;
  const base = bases[made]!;
  const asked = ASKED + 1000 * made;
  const byHand = hand === 'none' ? 0 : came === 'part' ? asked / 2 : asked;
  const before =
    came === 'part' || came === 'short' || (came === 'received' && hand === 'none') ? asked / 4 : 0;
  const due =
    hand === 'same' || hand === 'like' || came === 'approved' ? byHand || asked : asked - before - byHand;
  const difference = { exact: 0, charges: -100, less: -200, more: 300, currency: 0 }[amount];
  const received = came === 'received' && hand === 'none' ? asked : before;
  const amount_minor = (came === 'received' && hand !== 'same' && hand !== 'like' ? asked : due) + difference;
  if (!canBe(cell, { amount_minor, asked, byHand, before })) return undefined;
  const acts = [
    byHand > 0 && (came !== 'approved' || made % 2 === 0)
      ? {
          act: 'record',
          amount_minor: byHand,
          received_on: '2026-10-22',
          ...(hand === 'same' && { bank_reference: 'BK 7' }),
        }
      : undefined,
    received > 0 || (came === 'approved' && hand === 'none')
      ? { act: 'match', line: 'lin_0', amount_minor: received || asked, received_on: '2026-10-22' }
      : undefined,
    came === 'approved' || came === 'short'
      ? { act: 'approve', ...(hand === 'same' && { bank_reference: 'bk7' }) }
      : undefined,
  ].filter((one) => one !== undefined);
  const status = {
    part: 'requires_review',
    received: 'requires_review',
    announced: 'requires_review',
    short: 'approved',
    expired: 'cancelled',
  } as const;
  const announced = payer !== 'unknown';
  const payment: Payment = {
    ...base,
    id: `pay_01kf${base.id.slice(8)}`,
    created_at: CREATED,
    expires_at: ENDS,
    amount_minor: asked,
    merchant_reference: `ORDER-${900_000 + made}`,
    customer: null,
    payer_account: null,
    payer_name: null,
    submission: announced ? JSON.stringify({ transfer_name: 'Jo Doe' }) : null,
    status: came in status ? status[came as keyof typeof status] : (came as Payment['status']),
    status_reason: came === 'expired' ? 'expired' : came === 'cancelled' ? 'cancelled_by_merchant' : null,
    review:
      acts.length === 0
        ? null
        : JSON.stringify(
            acts.map((act, i) => ({
              by: 'adm_1',
              at: CREATED,
              entry_version: HAND_VERSION + i,
              currency: 'EUR',
              ...act,
            })),
          ),
    received_minor: null,
  };
  if (came === 'pending') payment.expires_at = IMPORTED + DAY_MS;
  const reference = creditorReference(payment);
  const wrong = reference[12] === 'X' ? 'Y' : 'X';
  const line: BankLine = {
    id: `lin_${made}`,
    day,
    amount_minor,
    currency: amount === 'currency' ? 'CHF' : 'EUR',
    direction: 'credit',
    booked: 1,
    reversal: 0,
    references: hand === 'same' ? { booking: 'BK7' } : {},
    text: {
      whole: reference,
      corrected: reference.slice(0, 12) + wrong + reference.slice(13),
      cut: reference.slice(0, 15),
      named: payment.merchant_reference!,
      payer: '',
      amount: '',
    }[by],
    counterparty: payer === 'unknown' ? {} : { name: payer === 'same' ? 'DOE, JO' : 'Bo Ng' },
    ...(amount === 'charges' && { chargesMinor: 100 }),
  };
  made += 1;
  return { cell, payment, line };
}

/** Whether a cell can be: without a name of the payment, only the exact amount finds it. */
function canBe(
  cell: MatrixCell,
  {
    amount_minor,
    asked,
    byHand,
    before,
  }: { amount_minor: number; asked: number; byHand: number; before: number },
): boolean {
  const { came, hand, by, payer, amount, day } = cell;
  if (amount_minor <= 0 || (hand === 'like' && amount !== 'exact' && amount !== 'currency')) return false;
  if (hand === 'other' && amount_minor === byHand) return false;
  // With the money by hand it would be more than was asked for: it may be a part of it.
  if (hand === 'other' && came !== 'approved' && byHand + before + amount_minor > asked) return false;
  // A reviewer who typed the bank's reference has named the payment with it.
  if (hand === 'same' && (by === 'payer' || by === 'amount')) return false;
  if (came === 'pending' && day === 'after') return false;
  if (by !== 'payer' && by !== 'amount') return true;
  if (amount_minor !== asked || amount === 'currency') return false;
  if (by === 'payer' ? payer !== 'same' : payer === 'same') return false;
  return (
    came === 'pending' ||
    came === 'announced' ||
    came === 'part' ||
    came === 'received' ||
    (by === 'payer' && (came === 'expired' || came === 'cancelled'))
  );
}

async function told(some: readonly Made[]): Promise<(Proposal | undefined)[]> {
  const { database, journal } = service.service;
  await storePayments(
    journal,
    some.map(({ payment }) => payment),
  );
  database.refresh();
  const lines = some.map(({ line }) => line);
  const all = await propose(database, lines, { ...MATCHING, now: IMPORTED, timeZone: ZONE });
  const byLine = new Map(all.map(({ line, proposals }) => [line.id, proposals]));
  return some.map(({ line, payment }) => byLine.get(line.id)!.find((one) => one.payment.id === payment.id));
}

/** Holds what was told against the row of the cell, and against what no row may ever say. */
function hold({ cell, line }: Made, proposal: Proposal | undefined): void {
  const name = JSON.stringify(cell);
  assert.ok(proposal, name);
  const row = rowOf(cell);
  const { level, button } = expected(cell);
  assert.deepEqual([proposal.case, proposal.level, proposal.button], [row.kind, level, button], name);
  const pattern = row.says
    .join(' ')
    .replaceAll(/[.*+?^$()[\]\\|]/g, '\\$&')
    .replaceAll(/\{\w+\}/g, '.+?');
  assert.match(proposal.sentence, new RegExp(`^${pattern}$`), name);
  const all = `${proposal.sentence} ${proposal.act}`;
  assert.doesNotMatch(all, /\{|undefined|NaN/, name);
  const isLate = cell.came === 'expired' && (line.day === '' || line.day > '2026-10-26');
  if (/link ended/.test(all)) assert.ok(isLate, name);
  if (/before the payment was created/.test(all)) assert.equal(line.day, '2026-10-20', name);
  if (proposal.level !== 'certain') return;
  assert.ok(cell.by === 'whole' && cell.amount === 'exact' && cell.payer !== 'other', name);
  assert.ok(cell.day !== 'before' && !isLate, name);
  const isOpen = ['pending', 'announced', 'expired'].includes(cell.came) && cell.hand === 'none';
  assert.ok(isOpen || (cell.hand === 'same' && ['received', 'approved'].includes(cell.came)), name);
}

const ALONE = { money: 'in', beside: 'alone' } as const;

test('every cell of a line and a payment alone is told what its row of the matrix says', async () => {
  const cells = STATES.flatMap(([came, hand]) =>
    DAYS.flatMap(([day, written]) =>
      keys('by').flatMap((by) =>
        keys('payer').flatMap((payer) =>
          keys('amount').map(
            (amount) => [{ ...ALONE, came, hand, day, by, payer, amount }, written] as const,
          ),
        ),
      ),
    ),
  );
  // Prime to the numbers of values, so that each value meets each other.
  const some = sampled(cells, 7).flatMap(([cell, written]) => make(cell, written) ?? []);
  assert.ok(some.length > (isWhole ? 3000 : 400), `${some.length} cells`);
  for (const [i, proposal] of (await told(some)).entries()) hold(some[i]!, proposal);
  // In time and exact is certain, however late the statement comes.
  const sound = some.filter(
    ({ cell }) =>
      cell.came === 'expired' && cell.day === 'in_time' && cell.by === 'whole' && cell.amount === 'exact',
  );
  assert.deepEqual(
    new Set(sound.filter(({ cell }) => cell.payer !== 'other').map(({ cell }) => rowOf(cell).level)),
    new Set(['certain']),
  );
});

/** Holds what the table says of a cell against what a bookkeeper expects. */
function holdToRules(cell: MatrixCell): void {
  const { level, button, page, act } = rowOf(cell);
  const wanted = expected(cell);
  const isEvidence = level === 'evidence' && wanted.level !== 'certain';
  if (wanted.button !== button || wanted.page !== page || (wanted.level !== level && !isEvidence))
    assert.deepEqual({ level, button, page }, wanted, JSON.stringify(cell));
  assert.ok(mayReturn(cell) || !/return/i.test(act), `${act} ${JSON.stringify(cell)}`);
}

test('each cell is what a bookkeeper expects; each row is reached by some, and docs/matching.md is made from them', () => {
  let walked = 0;
  const rows = new Set<number>();
  const walk = (cell: Partial<MatrixCell>, [name, ...others]: readonly (keyof MatrixCell)[]) => {
    if (name) for (const value of keys(name)) walk({ ...cell, [name]: value }, others);
    else {
      rows.add(firstRow(cell as MatrixCell));
      if (isWhole || ++walked % 7 === 0) holdToRules(cell as MatrixCell);
    }
  };
  const firstRow = (cell: MatrixCell) =>
    MATRIX.findIndex(({ when }) =>
      Object.entries(when).every(([name, values]) => values.includes(cell[name as keyof MatrixCell])),
    );
  walk({}, Object.keys(DIMENSIONS) as (keyof MatrixCell)[]);
  assert.deepEqual(
    [...rows].sort((a, b) => a - b),
    [...MATRIX.keys()],
  );
  const page = readFileSync(new URL('../../../docs/matching.md', import.meta.url), 'utf8');
  assert.equal(page, matchingPage(), 'run: npm run docs');
});
