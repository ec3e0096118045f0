// The matrix of bank lines through the whole service: each cell is made, imported, pressed in the console and read on the customer's page.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { DAY_MS, SECOND_MS } from '../../../src/lib/time.ts';
import { MATRIX, rowOf } from '../../../src/statements/matching/matrix.ts';
import { DIMENSIONS, type MatrixCell } from '../../../src/statements/matching/matrix-words.ts';
import { Bookkeeper, referenceOn } from '../../support/bookkeeper.ts';
import { type Entry, TRANSFERS } from '../../support/camt.ts';
import { MANY_SIGN_INS } from '../../support/console.ts';
import { type CheckoutPage, send } from '../../support/customer.ts';
import { isWhole } from '../../support/extent.ts';
import { sharedHarness } from '../../support/harness.ts';
import { sweep } from '../../support/payments.ts';
import { expected } from './bookkeeper-rules.ts';

/** Rows that no file reaches here: all payments are tests, and 11,000 open lines are another test. */
const NOT_HERE = /test payment|Too many lines/;
const CREATED = Date.UTC(2026, 11, 1, 8);
/** All but pending payments end on 3 December. */
const ENDS_S = (2 * DAY_MS) / 1000;
const IMPORTED = CREATED + 5 * DAY_MS;
const DAYS = { before: '2026-11-30', in_time: '2026-12-03', after: '2026-12-04', none: '' } as const;
/** What the other payment of a line asks for that names two. */
const OTHER = 50_00;

const BASE = {
  money: 'in',
  day: 'in_time',
  by: 'whole',
  payer: 'unknown',
  amount: 'exact',
  beside: 'alone',
} as const;

type Values<D extends keyof MatrixCell> = MatrixCell[D][];
const all = <D extends keyof MatrixCell>(dimension: D) => Object.keys(DIMENSIONS[dimension]) as Values<D>;
/** The values of a dimension other than the one that is taken where it does not count. */
const keys = <D extends keyof typeof BASE>(dimension: D) =>
  all(dimension).filter((one) => one !== BASE[dimension]);
/** Each way in which a payment comes to its state, and each of the other dimensions' values once with it. */
const CELLS = all('came').flatMap((came): MatrixCell[] => {
  const hands = /part|received|approved/.test(came) ? all('hand') : (['none'] as const);
  return hands.flatMap((hand) => [
    { ...BASE, came, hand },
    { ...BASE, came, hand, money: 'out' },
    { ...BASE, came, hand, money: 'out', amount: 'currency' },
    // A debit that names the payment less surely is looked at where money of it is known.
    ...(/part|received|approved|short/.test(came) ? (['cut', 'named'] as const) : []).map(
      (by) => ({ ...BASE, came, hand, money: 'out', by }) as const,
    ),
    ...keys('amount').map((amount) => ({ ...BASE, came, hand, amount })),
    ...keys('beside').map(
      (beside) => ({ ...BASE, came, hand, beside, by: beside === 'alike' ? 'named' : BASE.by }) as const,
    ),
    { ...BASE, came, hand, beside: 'several', amount: 'charges' },
    ...(hand === 'none' ? keys('day') : []).map((day) => ({ ...BASE, came, hand, day })),
    ...(hand === 'none' ? keys('payer') : []).map((payer) => ({ ...BASE, came, hand, payer })),
    ...(hand === 'none' ? keys('by') : (['named'] as const)).map(
      (by) => ({ ...BASE, came, hand, by, payer: by === 'payer' ? 'same' : BASE.payer }) as const,
    ),
  ]);
});

const service = sharedHarness('sqlite', {
  isVerified: true,
  configuration: `${MANY_SIGN_INS}${TRANSFERS}time_zone: Europe/Berlin\n`,
});
let books: Bookkeeper;
before(async () => {
  service.clock.stop();
  service.clock.advance(CREATED - service.clock.now());
  books = await Bookkeeper.at(service);
});

/** The sums of a cell in hundredths, and whether its customer says who pays; undefined if there can be no such thing. */
function sumsOf(cell: MatrixCell, asked: number) {
  const { came, hand, by, payer, amount, day, beside } = cell;
  const isHand = hand === 'same' || hand === 'like';
  const byHand = hand === 'none' ? 0 : came === 'part' ? asked / 2 : asked;
  const isWhole = hand === 'none' && /received|approved/.test(came);
  const earlier = came === 'part' || came === 'short' ? asked / 4 : isWhole ? asked : 0;
  const due =
    isHand || came === 'approved' ? byHand || asked : came === 'received' ? asked : asked - earlier - byHand;
  const short = beside === 'parts' ? -OTHER : 0;
  const line = due + short + { exact: 0, charges: -100, less: -200, more: 300, currency: 0 }[amount];
  const isTold = payer !== 'unknown';
  const isUnnamed = by === 'payer' || by === 'amount';
  const cannot = [
    beside === 'unseen' || beside === 'test',
    day === 'after' && came === 'pending',
    hand === 'like' && amount !== 'exact' && amount !== 'currency',
    hand === 'other' && line === byHand,
    hand === 'other' && came !== 'approved' && byHand + earlier + line > asked,
    // Without a name only the amount that is asked for finds an undecided payment, or the payer one that ended.
    isUnnamed && (hand === 'same' || line !== asked || /approved|short|rejected|cancelled/.test(came)),
    by === 'amount' && came === 'expired',
    isTold && !/announced|rejected|expired/.test(came),
    beside === 'parts' && (hand !== 'none' || /received|approved|short/.test(came)),
    /several|ambiguous|alike/.test(beside) && !/pending|announced/.test(came),
    beside === 'again' && (hand !== 'none' || !/pending|announced|approved/.test(came)),
  ].some(Boolean);
  return cannot ? undefined : { byHand, earlier, line, isTold };
}

type Made = Awaited<ReturnType<typeof make>>;
const written = (minor: number) => (minor / 100).toFixed(2);
const euros = (minor: number) => `€${(minor / 100).toLocaleString('en', { minimumFractionDigits: 2 })}`;
const PRESSED = { 'payer-email': 'a@example.org' };

/** Makes the payment of a cell, as far as it comes before any statement. */
async function make(cell: MatrixCell, sums: NonNullable<ReturnType<typeof sumsOf>>, asked: number) {
  const { came, hand, beside } = cell;
  const bank = `M${asked}`;
  const merchant_reference = `ORDER-${asked}`;
  const pay = async (minor: number, more: object = {}): Promise<string> => {
    service.clock.advance(SECOND_MS); // references begin with the moment of creation
    return (await service.create({ amount: minor / 100, currency: 'EUR', merchant_reference, ...more })).id;
  };
  const id = await pay(asked, came === 'pending' ? {} : { expires_in: ENDS_S });
  const other = /several|ambiguous|alike/.test(beside) && (await pay(beside === 'alike' ? asked : OTHER));
  const page = await books.reads(id);
  const references = [page, ...(other ? [await books.reads(other)] : [])].map(referenceOn);
  const typed = { ...PRESSED, ...(sums.isTold && { 'transfer-name': 'Jo Doe' }) };
  if (/announced|rejected/.test(came)) await send(page, typed);
  const { byHand } = sums;
  const reference = hand === 'same' ? { bank_reference: bank } : {};
  if (byHand > 0)
    await books.act(id, 'record', { amount: byHand / 100, received_on: '2026-12-01', ...reference });
  if (came === 'approved' && byHand > 0) await books.act(id, 'approve');
  if (came === 'rejected') await books.act(id, 'reject', { reason: 'other' });
  if (came === 'cancelled') await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
  return { ...sums, cell, asked, bank, id, page, typed, references };
}

/** The line of a cell, and what stands beside it. */
function entriesOf({ cell, asked, bank, references, line }: Made): Entry[] {
  const { by, payer, amount, beside } = cell;
  const [reference = ''] = references;
  const wrong = reference[12] === 'X' ? 'Y' : 'X';
  const entry: Entry = {
    ...{ bank, day: DAYS[cell.day], direction: cell.money === 'out' ? 'DBIT' : 'CRDT' },
    amount: written(line + (beside === 'several' ? OTHER : 0)),
    text: {
      whole: references.join(' '),
      corrected: reference.slice(0, 12) + wrong + reference.slice(13),
      cut: reference.slice(0, 15),
      named: `ORDER-${asked}`,
      payer: 'Bestellung',
      amount: 'Bestellung',
    }[by],
    ...(payer !== 'unknown' && { name: payer === 'same' ? 'DOE, JO' : 'Bo Ng' }),
    ...(amount === 'charges' && { charges: '1.00' }),
    ...(amount === 'currency' && { currency: 'CHF' }),
  };
  const others: Partial<Record<MatrixCell['beside'], Partial<Entry>>> = {
    back: { direction: 'DBIT', amount: '0.01' },
    rival: { amount: written(asked) },
    parts: { amount: written(OTHER) },
  };
  const more = others[beside];
  return [entry, ...(more ? [{ ...entry, bank: `${bank}b`, ...more }] : [])];
}

/** What came before the line of a cell, and the buttons that were pressed then. */
async function bringBefore(some: readonly Made[]): Promise<void> {
  const first = some.filter(({ cell, earlier }) => earlier > 0 || cell.beside === 'again');
  if (first.length === 0) return;
  await books.bring(
    first.flatMap(({ cell, bank, references, earlier, asked }) => {
      const one: Entry = {
        bank: `${bank}a`,
        text: references[0]!,
        day: '2026-12-02',
        amount: written(earlier || asked),
      };
      return cell.beside === 'again'
        ? [one, { ...one, bank: `${bank}z`, direction: 'DBIT' as const }]
        : [one];
    }),
  );
  await inTurn(first, async ({ cell, bank }) => {
    const isApproved = cell.came === 'approved' || cell.came === 'short';
    await books.press(`${bank}a`, isApproved ? 'Approve the payment' : 'Match, decide later', {
      note: 'x',
    });
    if (cell.beside === 'again') await books.press(`${bank}z`, 'Record that it went back');
  });
}

async function inTurn<T, R>(some: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const one of some) done.push(await work(one));
  return done;
}

/** The sentences about the money. */
const moneyOn = ({ text }: CheckoutPage) =>
  (/<p class="money">(.*?)<\/p>/s.exec(text)?.[1] ?? '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Presses the button of a line's page. Of money by hand of its amount, every other line is said to show it. */
async function press({ cell, bank, asked, id }: Made): Promise<void> {
  const { button } = expected(cell);
  const page = await books.page(bank);
  const forms = page.forms.filter(({ values }) => values.payment === id || values.pairs?.includes(id));
  if (button === 'none') return assert.equal(forms.length, 0, page.body);
  const [form] = forms;
  assert.ok(form, page.body);
  const as = cell.hand === 'like' && button === 'match' ? { as: isSame(asked) ? 'same' : 'besides' } : {};
  const send = (fields: object) =>
    books.client.post(form.action, { ...form.values, ...as, ...fields }, { follow: false });
  if (button === 'reason' && !isReasonAsked) {
    isReasonAsked = true;
    assert.match(String((await send({})).faults), /^(p\d+-)?note$/);
  }
  const done = await send({ note: 'Seen' });
  assert.equal(done.status, 303, done.body);
}
let isReasonAsked = false;
const isSame = (asked: number) => (asked / 2000) % 2 === 0;

/** What is known to have arrived once the button was pressed, hundredths. */
function arrivedAfter({ cell, byHand, earlier, line, asked }: Made): number {
  const { hand, came } = cell;
  if (expected(cell).button === 'none') return earlier + byHand;
  if (cell.beside === 'several') return asked;
  if (cell.money === 'out') return Math.max(0, earlier + byHand - line);
  const isShown = hand === 'same' || came === 'approved' || (hand === 'like' && isSame(asked));
  const left = hand === 'same' ? 0 : isShown ? Math.max(0, byHand - line) : byHand;
  return (cell.beside === 'again' ? 0 : earlier) + line + left;
}

/** Holds the customer's page against the row. */
async function readAfter(one: Made, before: string): Promise<void> {
  const { cell, asked, id } = one;
  const { page } = expected(cell);
  const after = await books.reads(id);
  const said = moneyOn(after);
  const name = `${JSON.stringify(cell)}: ${after.h1}. ${said}`;
  const arrived = arrivedAfter(one);
  const { json } = await service.request(`/v1/payments/${id}`);
  assert.equal(json.data.amount_received, written(arrived), name);
  const isAsked = /DE75 5121/.test(after.body);
  if (json.data.amount_due === '0.00' || /left to pay/.test(said))
    assert.equal(isAsked, /left to pay/.test(said), name);
  if (page === 'same') assert.equal(said, before, name);
  if (page === 'back') assert.match(said, new RegExp(`${euros(one.line)} was paid back\\.`), name);
  if (page === 'kept') {
    assert.equal(json.data.status, 'rejected', name);
    assert.match(said, new RegExp(`^${euros(arrived)} .*has arrived.*Contact`), name);
  }
  if (page === 'checked' || page === 'rest') {
    assert.equal(json.data.status, 'requires_review', name);
    const rest = `${euros(arrived)} of ${euros(asked)} has arrived. ${euros(asked - arrived)} is left to pay.`;
    assert.ok(said.startsWith(arrived < asked ? rest : `${euros(arrived)} has arrived`), name);
  }
  if (page !== 'confirmed') return;
  assert.equal(json.data.status, 'approved', name);
  const less = `${euros(arrived)} of ${euros(asked)} was received and accepted as payment.`;
  const more = `is confirmed. ${euros(arrived)} has arrived, ${euros(arrived - asked)} more than`;
  assert.ok(said.includes(arrived < asked ? less : arrived > asked ? more : 'is confirmed.'), name);
  if (arrived === asked) assert.doesNotMatch(said, /has arrived|Contact/, name);
}

/** Imports the lines of some cells, holds what is proposed against their rows, presses their buttons and reads the customers' pages. */
async function clear(some: readonly Made[]): Promise<void> {
  const entries = some.flatMap(entriesOf);
  const foreign = entries.filter(({ currency }) => currency === 'CHF');
  const isDated = ({ day }: Entry) => day !== '';
  await books.bring(entries.filter((one) => one.currency !== 'CHF' && isDated(one)));
  const undated = entries.filter((one) => !isDated(one));
  const sum = undated.reduce((all, { amount }) => all + Number(amount), 0);
  if (undated.length > 0)
    await books.bring(undated, { balances: ['0.00', sum.toFixed(2)], day: '2026-12-05' });
  if (foreign.length > 0) await books.bring(foreign, { currency: 'CHF' });
  for (const { cell, bank, id } of some) {
    const proposals: Record<'payment_id' | 'case' | 'level' | 'sentence', string>[] =
      books.line(bank).proposals;
    const proposal = proposals.find(({ payment_id }) => payment_id === id);
    const { kind, says } = rowOf(cell);
    const { level } = expected(cell);
    assert.equal(proposal?.case, kind, JSON.stringify(cell));
    for (const words of says.flatMap((one) => one.split(/\{\w+\}/)))
      assert.ok(proposal.sentence.includes(words), words);
    const said = proposal.sentence.split(/(?<=\w\.) /);
    assert.equal(new Set(said).size, said.length, `said twice: ${proposal.sentence}`);
    assert.equal(proposal?.level, level, JSON.stringify(cell));
  }
  const before = await inTurn(some, async ({ id, cell }) =>
    expected(cell).page === 'same' ? moneyOn(await books.reads(id)) : '',
  );
  await inTurn(some, press);
  await inTurn([...some.keys()], (i) => readAfter(some[i]!, before[i]!));
  // The pages look at all open lines: with few it is quick.
  for (const { id } of await books.lines('state=open'))
    await books.client.post(`/statements/lines/${id}/ignore`, { reason: 'Seen' }, { follow: false });
}

/** Cells with all that rows say, each state, and each value of the other dimensions: as few as there can be. */
function ofEachKind<T extends { cell: MatrixCell }>(planned: readonly T[]): T[] {
  const seen = new Set<string>();
  return planned.filter(({ cell }) => {
    const { came, hand, ...others } = cell;
    const kinds = [JSON.stringify(rowOf(cell)), came + hand, ...Object.entries(others).map(String)];
    const isNew = kinds.some((kind) => !seen.has(kind));
    for (const kind of kinds) seen.add(kind);
    return isNew;
  });
}

const PLANNED = CELLS.flatMap((cell, i) => {
  const asked = 100_000 + 2000 * i;
  const sums = sumsOf(cell, asked);
  return sums ? [{ cell, sums, asked }] : [];
});
/** The cells by how their payment comes to its state, for whom a test each has the time on a slow machine. */
const GROUPS = Map.groupBy(
  isWhole ? PLANNED : ofEachKind(PLANNED),
  ({ cell: { came, hand } }) => `${came}, by hand ${hand}`,
);
const made = new Map<string, Made[]>();

for (const [name, cells] of GROUPS)
  test(`${name}: the payments are made`, async () => {
    made.set(name, await inTurn(cells, ({ cell, sums, asked }) => make(cell, sums, asked)));
  });

for (const name of GROUPS.keys())
  test(`${name}: what came before their lines is brought`, () => bringBefore(made.get(name)!));

test('the day of the statement comes, behind the last day of some', async () => {
  service.clock.advance(IMPORTED - service.clock.now());
  await inTurn(
    [...made.values()].flat().filter(({ cell, isTold }) => cell.came === 'expired' && isTold),
    ({ page, typed }) => send(page, typed),
  );
  await sweep(service); // or it changes payments between a look and its button
  await books.get('/statements');
});

for (const name of GROUPS.keys())
  test(`${name}: each cell is judged, and the page of its customer says after the button what its row says`, () =>
    clear(made.get(name)!));

test('every row of the matrix is reached', () => {
  const reached = new Set([...made.values()].flat().map(({ cell }) => rowOf(cell).act));
  const missing = MATRIX.filter(({ act, says }) => !reached.has(act) && !NOT_HERE.test(says));
  assert.deepEqual(
    missing.map(({ says }) => says),
    [],
  );
});
