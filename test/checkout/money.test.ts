// What customers read about the money: the whole table of states, ways to pay and what is known, in every language.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KNOWN, MONEY, moneyKnown, moneySentences, WAYS } from '../../src/checkout/money.ts';
import type { PaymentSubject, ShownStatus } from '../../src/checkout/parts.ts';
import { stateOf } from '../../src/checkout/state-page.ts';
import type { KeyRing } from '../../src/journal/keys/key-ring.ts';
import { PAYMENTS, type Payment } from '../../src/payments/payment.ts';
import type { ReviewAct } from '../../src/review/review.ts';
import { LANGUAGES, Languages } from '../../src/web/markup/languages.ts';

const AMOUNT = 100_00;
const languages = new Languages('Europe/Berlin');
const STATES = Object.keys(MONEY) as ShownStatus[];

const money = (act: ReviewAct['act'], amount_minor: number, entry_version: number): ReviewAct => ({
  act,
  by: 'adm_ana',
  at: 0,
  entry_version,
  amount_minor,
  currency: 'EUR',
  received_on: '2026-11-20',
  line: `lin_${entry_version}`,
});
/** What administrators did, by what is known then. */
const ACTS: Record<(typeof KNOWN)[number], ReviewAct[]> = {
  nothing: [],
  announced: [],
  part: [money('match', 40_00, 2)],
  all: [money('match', AMOUNT, 2)],
  more: [money('match', 130_00, 2)],
  returned: [money('match', AMOUNT, 2), money('return', AMOUNT, 3)],
};

function payment(status: ShownStatus, way: (typeof WAYS)[number], known: (typeof KNOWN)[number]): Payment {
  const isExpired = status === 'expired';
  return {
    ...PAYMENTS.nulls,
    id: 'pay_x',
    merchant_id: 'mer_x',
    mode: 'live',
    amount_minor: AMOUNT,
    currency: 'EUR',
    status: isExpired ? 'cancelled' : status,
    status_reason: isExpired ? 'expired' : null,
    merchant_name: 'Corner Shop',
    salt: '',
    version: 1,
    created_at: 0,
    updated_at: 0,
    expires_at: Date.parse('2026-12-03T12:00:00Z'),
    pay_by: '2026-11-30',
    announced_at: known === 'nothing' ? null : Date.parse('2026-11-27T12:00:00Z'),
    payment_details: way === 'none' ? null : JSON.stringify({ type: way }),
    review: JSON.stringify(ACTS[known]),
  };
}

function sentenceOf(one: Payment, tag: string): string {
  const words = languages.choose(tag);
  const amount = words.money(one.amount_minor, one.currency);
  const subject: PaymentSubject = {
    payment: one,
    profile: { website: null, support: null } as PaymentSubject['profile'],
    words,
    amount,
    ring: {} as KeyRing,
    now: 0,
    triesOut: false,
  };
  return String(moneySentences(subject, moneyKnown(one))).replace(/<[^>]*>/g, '');
}

test('each state, way to pay and what is known has its sentence in every language.', () => {
  for (const { tag } of LANGUAGES)
    for (const status of STATES)
      for (const way of WAYS)
        for (const known of KNOWN) {
          const text = sentenceOf(payment(status, way, known), tag);
          assert.ok(text.length > 5, `${tag} ${status} ${way} ${known}`);
          assert.doesNotMatch(text, /[{}]|undefined|NaN/, `${tag} ${status} ${way} ${known}`);
        }
});

test('nobody is told that nothing arrived when something did, nor asked to pay what was decided.', () => {
  for (const status of STATES)
    for (const way of WAYS) {
      for (const known of ['part', 'all', 'more'] as const)
        assert.doesNotMatch(sentenceOf(payment(status, way, known), 'en'), /No payment|charged|already sent/);
      if (status === 'pending' || status === 'requires_review') continue;
      for (const known of KNOWN)
        assert.doesNotMatch(sentenceOf(payment(status, way, known), 'en'), /left to pay|yet/, status);
    }
});

test('who said that they sent the money is told not to send it again, until it arrived.', () => {
  for (const status of ['requires_review', 'rejected'] as const)
    assert.match(sentenceOf(payment(status, 'bank_transfer', 'announced'), 'en'), /Do not send it again/);
  assert.match(
    sentenceOf(payment('expired', 'bank_transfer', 'announced'), 'en'),
    /Corner Shop can see this/,
  );
});

test('a payment approved with less says so, and one approved with more says how much more.', () => {
  const text = (known: 'part' | 'all' | 'more') =>
    sentenceOf(payment('approved', 'bank_transfer', known), 'en');
  assert.equal(text('part'), '€40.00 of €100.00 was received and accepted as payment.');
  assert.equal(text('all'), '€100.00 to Corner Shop is confirmed.');
  assert.equal(
    text('more'),
    '€100.00 to Corner Shop is confirmed. €130.00 has arrived, €30.00 more than was asked for. Contact Corner Shop about this money.',
  );
  assert.equal(
    sentenceOf(payment('approved', 'bank_transfer', 'part'), 'de'),
    'Von 100,00 € sind 40,00 € eingegangen und als Zahlung angenommen.'.replaceAll(' €', '\u00a0€'),
  );
});

test('what went back is told, and is never said to have arrived for good.', () => {
  assert.equal(
    sentenceOf(payment('requires_review', 'bank_transfer', 'returned'), 'en'),
    '€100.00 was paid back.',
  );
  assert.equal(sentenceOf(payment('approved', 'bank_transfer', 'returned'), 'en'), '€100.00 was paid back.');
  const part = { ...payment('requires_review', 'bank_transfer', 'all') };
  part.review = JSON.stringify([...ACTS.all, money('return', 30_00, 3)]);
  assert.equal(
    sentenceOf(part, 'en'),
    '€70.00 of €100.00 has arrived. €30.00 is left to pay. €30.00 was paid back.',
  );
});

test('of an approved payment what went back before is settled, money that came too much and went back is nothing to ask for, and what went back was paid.', () => {
  const approve: ReviewAct = { act: 'approve', by: 'adm_ana', at: 0, entry_version: 9 };
  const rows: [Payment['status'], ReviewAct[], string][] = [
    [
      'approved',
      [money('match', 60_00, 2), money('return', 60_00, 3), money('match', AMOUNT, 4), approve],
      '€100.00 to Corner Shop is confirmed.',
    ],
    [
      'approved',
      [money('match', 160_00, 2), approve, money('return', 60_00, 10)],
      '€100.00 to Corner Shop is confirmed.',
    ],
    ['rejected', [money('match', 40_00, 2), money('return', 40_00, 3)], '€40.00 was paid back.'],
    ['pending', [money('return', 40_00, 3)], '€40.00 was paid back.'],
  ];
  for (const [status, acts, text] of rows) {
    const one = { ...payment(status as ShownStatus, 'none', 'nothing'), review: JSON.stringify(acts) };
    assert.equal(sentenceOf(one, 'en'), text);
  }
});

test('nobody reads that they have paid when all of it was paid back after the approval.', () => {
  const approve: ReviewAct = { act: 'approve', by: 'adm_ana', at: 0, entry_version: 3 };
  const rows: [ReviewAct[], heading: string, text: string][] = [
    [[...ACTS.all, approve, money('return', AMOUNT, 4)], 'returned.heading', '€100.00 was paid back.'],
    [[approve, money('return', AMOUNT, 4)], 'returned.heading', '€100.00 was paid back.'],
    [[...ACTS.part, approve, money('return', 40_00, 4)], 'returned.heading', '€40.00 was paid back.'],
    [[...ACTS.more, approve, money('return', 130_00, 4)], 'returned.heading', '€130.00 was paid back.'],
    [
      [approve, money('return', 30_00, 4)],
      'approved.paid',
      '€100.00 to Corner Shop is confirmed. €30.00 was paid back.',
    ],
    [
      [...ACTS.part, approve, money('return', 10_00, 4)],
      'approved.heading',
      '€40.00 of €100.00 was received and accepted as payment. €10.00 was paid back.',
    ],
  ];
  for (const [acts, heading, text] of rows) {
    const one = { ...payment('approved', 'bank_transfer', 'nothing'), review: JSON.stringify(acts) };
    assert.equal(stateOf('approved', moneyKnown(one))[1], heading);
    assert.equal(sentenceOf(one, 'en'), text);
  }
});

test('a part leaves the rest to pay while the payment is open.', () => {
  assert.equal(
    sentenceOf(payment('requires_review', 'bank_transfer', 'part'), 'en'),
    '€40.00 of €100.00 has arrived. €60.00 is left to pay.',
  );
});
