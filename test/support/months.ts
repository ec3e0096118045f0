// A month of a shop, made by chance from a seed: payments, and the bank's lines for them, a tenth of which are odd in each named way.
import { newSalt } from '../../src/journal/audit-entry.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { timeOrderedId } from '../../src/lib/ids.ts';
import { searchedName } from '../../src/lib/search-terms.ts';
import { creditorReference } from '../../src/payments/methods/transfer/creditor-reference.ts';
import { PAYMENT_ID_PREFIX, PAYMENTS, type Payment } from '../../src/payments/payment.ts';
import type { Proposal } from '../../src/statements/matching/judge-line.ts';
import type { BankLine } from '../../src/statements/matching/line-evidence.ts';
import type { LineProposals } from '../../src/statements/matching/propose.ts';
import type { SeededRandom } from './seeded-random.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 9, 1);
export const MONTH_END = START + 40 * DAY_MS;
const FIRST = 'Erika Otto Zoë Ana Ben Cleo Jörg Łukasz Renée Ivan Mia Sönke Aylin José'.split(' ');
const LAST = [
  'Mustermann',
  'Wolff',
  'Müller',
  'García',
  'Kowalski',
  'de Vries',
  'Yılmaz',
  "O'Brien",
  'Schäfer',
  'Nowak',
  'Rossi',
  'Lund',
];
const MIDDLE = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].map((letter) => `${letter}.`);
const PRICES = [990, 1990, 2990, 4990, 4990, 9900, 12900];

/** How a line is made. `plain` carries the reference; `bare` carries none, but the payer's name or the merchant's reference. */
export const ODDITIES = [
  'less',
  'more',
  'fee',
  'two_lines',
  'parts',
  'several',
  'ambiguous',
  'twice',
  'taken_back',
  'back_less_a_fee',
  'back_as_reversal',
  'back_named',
  'early',
  'other_currency',
  'other_payer',
  'late',
  'cancelled',
  'approved_first',
  'hand_like',
  'alike',
  'wrong_character',
  'missing_character',
  'cut',
] as const;
/** Ordinary days, too: the link has ended since, words touch the reference, O and l stand for 0 and 1, the money was recorded before. */
export const SOUND = ['plain', 'imported_late', 'touched', 'slips', 'hand_first'] as const;
export type Kind = 'bare' | 'stranger' | (typeof SOUND)[number] | (typeof ODDITIES)[number];

export interface MonthLine {
  line: BankLine;
  kind: Kind;
  /** The payments that it is for; none for a stranger. */
  truth: ReadonlySet<string>;
}

export interface Month {
  payments: Payment[];
  lines: MonthLine[];
}

/** A whole number from 0 up to, not including, `end`. */
const below = (random: SeededRandom, end: number) => random.between(0, end - 1);

/** Makes a month of `size` payments. The same seed gives the same month but for ids and salts. */
export function month(random: SeededRandom, size: number): Month {
  const payments = Array.from({ length: size }, (_, i) => paymentOf(random, i));
  const lines: MonthLine[] = [];
  for (let i = 0; i < size; i++) {
    const payment = payments[i]!;
    const drawn: Kind = random.chance(0.1)
      ? random.pick(ODDITIES)
      : random.pick([...SOUND, 'plain', 'plain', 'bare', 'bare'] as const);
    const isForTwo = drawn === 'several' || drawn === 'ambiguous' || drawn === 'alike';
    const kind = isForTwo && i + 1 === size ? 'plain' : drawn;
    if (isForTwo && kind === drawn) {
      const other = payments[++i]!;
      // Of two payments of one amount, either may be meant.
      if (kind !== 'several') other.amount_minor = payment.amount_minor;
      // One customer, two orders, and a transfer that names neither.
      if (kind === 'alike') Object.assign(other, { customer: payment.customer, merchant_reference: null });
      const amount_minor = payment.amount_minor + (kind === 'several' ? other.amount_minor : 0);
      const text =
        kind === 'alike' ? 'Thank you' : `${creditorReference(payment)} ${creditorReference(other)}`;
      lines.push({
        kind,
        truth: new Set([payment.id, other.id]),
        line: { ...lineOf(random, payment, lines.length), amount_minor, text },
      });
      continue;
    }
    lines.push(...linesFor(random, payment, kind, lines.length));
    if (random.chance(0.03))
      lines.push({
        kind: 'stranger',
        truth: new Set(),
        line: { ...lineOf(random, undefined, lines.length), text: 'Office rent, thank you' },
      });
  }
  return { payments, lines };
}

function paymentOf(random: SeededRandom, i: number): Payment {
  const created_at = START + below(random, 30 * DAY_MS);
  const name = `${random.pick(FIRST)} ${random.pick(MIDDLE)} ${random.pick(LAST)}`;
  const isSubmitted = random.chance(0.6);
  const account = `DE${String(10 ** 19 + below(random, 1e9)).slice(0, 20)}`;
  return {
    ...PAYMENTS.nulls,
    pay_by: '',
    id: timeOrderedId(PAYMENT_ID_PREFIX, created_at),
    merchant_id: 'mer_development',
    mode: 'live',
    amount_minor: random.chance(0.3) ? random.pick(PRICES) : 500 + below(random, 200_000),
    currency: 'EUR',
    status: isSubmitted ? 'requires_review' : 'pending',
    merchant_name: 'Shop',
    merchant_reference: random.chance(0.5) ? `ORDER-${10_000 + i}` : null,
    customer: JSON.stringify({ name }),
    submission: isSubmitted ? JSON.stringify({ transfer_name: name }) : null,
    payer_name: isSubmitted ? searchedName(name) : null,
    payer_account: isSubmitted && random.chance(0.5) ? account : null,
    salt: newSalt(),
    version: 1,
    created_at,
    updated_at: created_at,
    expires_at: MONTH_END + DAY_MS,
  };
}

const nameOf = ({ customer }: Payment): string => JSON.parse(customer!).name;

/** A line for a payment as its bank may show it, without what names it. */
function lineOf(random: SeededRandom, payment: Payment | undefined, number: number): BankLine {
  const at = (payment?.created_at ?? START) + below(random, 6 * DAY_MS);
  const name = payment ? nameOf(payment) : 'Landlord GmbH';
  const written = random.pick([
    name,
    name.toUpperCase(),
    name.split(' ').toReversed().join(' ').toUpperCase(),
  ]);
  const account = payment?.payer_account ?? undefined;
  return {
    id: `lin_${number}`,
    day: new Date(at).toISOString().slice(0, 10),
    amount_minor: payment?.amount_minor ?? 500 + below(random, 200_000),
    currency: 'EUR',
    direction: 'credit',
    booked: 1,
    reversal: 0,
    references: {},
    text: '',
    counterparty: { name: written, ...(account && { account }) },
  };
}

function withReference(random: SeededRandom, reference: string): Pick<BankLine, 'text' | 'references'> {
  const spaced = reference.replaceAll(/(.{4})/g, '$1 ').trim();
  const text = random.pick([
    reference,
    spaced,
    reference.toLowerCase(),
    `EREF+${reference} SVWZ+Thank you`,
    `/RFB/${reference}/`,
    `Invoice of October ${spaced} thank you`,
    `${reference.slice(0, 11)}\n${reference.slice(11)}`,
  ]);
  return random.chance(0.2)
    ? { text: 'Thank you', references: { creditor: reference } }
    : { text, references: {} };
}

function linesFor(random: SeededRandom, payment: Payment, kind: Kind, number: number): MonthLine[] {
  const truth = new Set([payment.id]);
  const reference = creditorReference(payment);
  const base = { ...lineOf(random, payment, number), ...withReference(random, reference) };
  const one = (changed: Partial<BankLine> = {}): MonthLine[] => [
    { kind, truth, line: { ...base, ...changed } },
  ];
  const at = 6 + below(random, reference.length - 6);
  const other = random.pick(
    [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'].filter((letter) => letter !== reference[at]),
  );
  switch (kind) {
    case 'less':
      return one({ amount_minor: payment.amount_minor - 1 - below(random, payment.amount_minor - 1) });
    case 'fee':
      return one({ amount_minor: payment.amount_minor - 100, chargesMinor: 100 });
    case 'more':
      return one({ amount_minor: payment.amount_minor + 1 + below(random, 5000) });
    case 'two_lines':
      return [...one(), ...one({ id: `lin_${number + 1}` })];
    case 'parts': {
      const part = 1 + below(random, payment.amount_minor - 1);
      const rest = { id: `lin_${number + 1}`, amount_minor: payment.amount_minor - part };
      return [...one({ amount_minor: part }), ...one(rest)];
    }
    case 'twice':
      Object.assign(payment, { status: 'approved' });
      return one();
    case 'taken_back': {
      const back = {
        id: `lin_${number + 1}`,
        direction: 'debit',
        reversal: random.chance(0.5) ? 1 : 0,
      } as const;
      return [...one(), ...one(back)];
    }
    case 'back_less_a_fee':
    case 'back_as_reversal':
    case 'back_named': {
      const end = { endToEnd: `E2E-${payment.salt}` };
      // The bank keeps a fee, and the debit is known by the transfer, the payer, or what is left of the reference.
      const back = {
        id: `lin_${number + 1}`,
        direction: 'debit',
        reversal: kind === 'back_as_reversal' ? 1 : 0,
        ...{ amount_minor: payment.amount_minor - below(random, 400), text: 'RETURN', references: {} },
        ...(kind === 'back_less_a_fee' && { references: end, counterparty: {} }),
        ...(kind === 'back_named' && { text: payment.merchant_reference ?? reference.slice(0, 13) }),
      } as const;
      return [...one({ references: { ...base.references, ...end } }), ...one(back)];
    }
    case 'early':
      return one({ day: new Date(payment.created_at - 3 * DAY_MS).toISOString().slice(0, 10) });
    case 'other_currency':
      return one({ currency: 'CHF' });
    case 'other_payer':
      Object.assign(payment, { status: 'requires_review', payer_account: 'DE02120300000000202051' });
      return one({ counterparty: { name: 'Somebody Else', account: 'NL86INGB0002445588' } });
    case 'late':
      // A weekend lies at most between the end and the last day in time.
      Object.assign(payment, EXPIRED, { expires_at: Date.parse(base.day) - 3 * DAY_MS - 1 });
      return one();
    case 'imported_late':
      Object.assign(payment, EXPIRED, { expires_at: Date.parse(base.day) + below(random, 3 * DAY_MS) });
      return one();
    case 'hand_first':
    case 'approved_first': {
      // Recorded by hand, or approved, before the statement came: with the bank's reference or without.
      const isSame = kind === 'hand_first';
      const act = {
        by: 'adm_1',
        at: payment.created_at,
        entry_version: 2,
        ...(isSame && { bank_reference: 'BK1' }),
      };
      const isApproved = random.chance(0.5);
      const recorded = {
        act: 'record',
        amount_minor: payment.amount_minor,
        currency: 'EUR',
        received_on: base.day,
      };
      Object.assign(payment, {
        status: isApproved ? 'approved' : 'requires_review',
        review: JSON.stringify([{ ...(isApproved ? { act: 'approve' } : recorded), ...act }]),
      });
      return one({ references: { ...base.references, ...(isSame && { booking: 'BK1' }) } });
    }
    case 'hand_like': {
      // Half of it came in cash: another transfer of the same amount is other money, or that.
      const half = payment.amount_minor >> 1;
      const cash = { act: 'record', amount_minor: half, currency: 'EUR', received_on: base.day };
      const act = { ...cash, by: 'adm_1', at: payment.created_at, entry_version: 2 };
      Object.assign(payment, { status: 'requires_review', review: JSON.stringify([act]) });
      return one({ amount_minor: half });
    }
    case 'touched':
      return one({
        references: {},
        text: `SVWZ+${reference}${random.pick(['DATUM 25.11.', 'Danke', 'ABWA+X'])}`,
      });
    case 'slips':
      return one({ references: {}, text: reference.replaceAll('0', 'o').replaceAll('1', 'l') });
    case 'cancelled':
      Object.assign(payment, { status: 'cancelled', status_reason: 'cancelled_by_merchant' });
      return one();
    case 'wrong_character':
      return one({ references: {}, text: reference.slice(0, at) + other + reference.slice(at + 1) });
    case 'missing_character':
      return one({ references: {}, text: reference.slice(0, at) + reference.slice(at + 1) });
    case 'cut':
      return one({ references: {}, text: reference.slice(0, 12 + below(random, 6)) });
    case 'bare':
      return one({ references: {}, text: payment.merchant_reference ?? 'Thank you' });
    default:
      return one();
  }
}

const EXPIRED = { status: 'cancelled', status_reason: 'expired' } as const;

/** Sentences that the days contradict. */
function contradictions({ day }: BankLine, { payment, sentence, facts }: Proposal): string[] {
  const [created, end] = [payment.created_at, payment.expires_at].map((ms) =>
    new Date(ms).toISOString().slice(0, 10),
  );
  const said = [sentence, ...facts.map(({ text }) => text)].join(' ');
  const [, days] = /came (\d+|a) days? after/.exec(said) ?? [];
  const isFalse = [
    /the link ended on/.test(said) && !(payment.status === 'cancelled' && day > end!),
    /before the payment was created/.test(said) && !(day < created!),
    /on the day the payment was created/.test(said) && day !== created,
    /a day to come/.test(said),
    days !== undefined &&
      (Date.parse(day) - Date.parse(created!)) / DAY_MS !== (days === 'a' ? 1 : Number(days)),
  ];
  return isFalse.includes(true) ? [`${day} ${created} ${end}: ${said}`] : [];
}

/** How proposals for a month came out. */
export interface Outcome {
  /** Certain proposals that are wrong, of another payment or of a line that is odd; and sentences that the days contradict. */
  wrong: string[];
  /** Lines with nothing odd that carry a reference, and how many of them have a certain proposal. */
  referenced: { all: number; certain: number };
  /** Other lines that are for a payment, and how many have the right one first. */
  others: { all: number; right: number };
}

/** Holds proposals against what the lines are for. */
export function judged(lines: readonly MonthLine[], proposals: readonly LineProposals[]): Outcome {
  const outcome: Outcome = { wrong: [], referenced: { all: 0, certain: 0 }, others: { all: 0, right: 0 } };
  for (const [i, { kind, truth, line }] of lines.entries()) {
    const [first] = proposals[i]!.proposals;
    const certain = proposals[i]!.proposals.filter(({ level }) => level === 'certain');
    outcome.wrong.push(...proposals[i]!.proposals.flatMap((one) => contradictions(line, one)));
    const isSound =
      SOUND.some((one) => one === kind) &&
      certain.length < 2 &&
      certain.every(({ payment }) => truth.has(payment.id));
    if (certain.length > 0 && !isSound) outcome.wrong.push(`${kind} ${JSON.stringify(line)}`);
    const isRight = first !== undefined && truth.has(first.payment.id);
    if (SOUND.some((one) => one === kind)) {
      outcome.referenced.all += 1;
      if (first?.level === 'certain' && isRight) outcome.referenced.certain += 1;
    } else if (truth.size > 0) {
      outcome.others.all += 1;
      if (isRight) outcome.others.right += 1;
    }
  }
  return outcome;
}

/** Writes payments into a store, 10,000 in a commit, in the place of those that it holds. */
export async function storePayments(journal: Journal, payments: readonly Payment[]): Promise<void> {
  const AT_ONCE = 10_000;
  for (let i = 0; i < payments.length; i += AT_ONCE)
    await journal.commit(async (one) => {
      if (i === 0) await one.change('delete from payments');
      for (const payment of payments.slice(i, i + AT_ONCE)) one.insert(PAYMENTS, payment);
      one.record({ actor: 'operator', action: 'test.filled', subject: 'test', request_id: null, facts: {} });
    });
}
