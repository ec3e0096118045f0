// Every page of checkout, in every state and by every method: the one list that all checks of pages walk.
import { lockRow } from '../../src/journal/record-row.ts';
import { PAYMENTS, type Payment } from '../../src/payments/payment.ts';
import { recordPayment } from '../../src/payments/transition.ts';
import { approve, reject } from '../../src/review/decide.ts';
import { recordMoney } from '../../src/review/record-money.ts';
import type { RejectReason } from '../../src/review/review.ts';
import { type CheckoutPage, FROM_OUR_PAGE, open, send, TYPED } from '../support/customer.ts';
import type { Harness } from '../support/harness.ts';
import { ANA, haveReviewers } from '../support/reviewers.ts';
import { createAt, type OfferName } from '../support/shop.ts';

export interface Scene {
  name: string;
  status: number;
  /** Brings a payment to it. Returns the page's path with its query, or the page itself where only a POST shows it. */
  make(harness: Harness): Promise<string | { path: string; form: Record<string, string> }>;
}

const REVIEWER = { actor: 'administrator:adm_test', request_id: null };
export const RETURN = {
  return_url: 'https://corner.example/thanks?order=1',
  cancel_url: 'https://corner.example/basket',
};
export const LONG_TEXT =
  'Two loaves of rye bread, one bag of coffee beans (ground for a filter), and a jar of honey from the valley.';

const pathOf = (id: string, query: Record<string, string> = {}) =>
  `/payment.php?${new URLSearchParams({ payment_id: id, ...query })}`;

/** A payment whose form was sent by the one method of `offer`. */
export async function submitted(harness: Harness, offer: Exclude<OfferName, 'all'>, fields: object = {}) {
  const payment = await createAt(harness, offer, { merchant_reference: 'ORDER-1001', ...RETURN, ...fields });
  const page = await send(await open(harness, payment.id), TYPED[offer]);
  if (page.status !== 200) throw new Error(`submitting answered ${page.status}: ${page.h1}`);
  return payment;
}

/** What a reviewer decides, and tells the customer. */
export async function decide(
  harness: Harness,
  id: string,
  move: 'approve' | 'reject',
  message: string | null = null,
  reason: RejectReason = 'other',
) {
  await haveReviewers(harness.service);
  const bare = { note: null, version: null };
  return harness.service.journal.commit(
    (transaction) =>
      move === 'approve'
        ? approve(transaction, ANA, id, { ...bare, bank_reference: null }, {})
        : reject(transaction, ANA, id, { ...bare, reason, message }),
    id,
  );
}

function pending(
  name: string,
  offer: OfferName,
  fields: object = {},
  query: Record<string, string> = {},
): Scene {
  return {
    name: `pending, ${name}`,
    status: 200,
    async make(harness) {
      const rest = { merchant_reference: 'ORDER-1001', description: LONG_TEXT, ...RETURN, ...fields };
      return pathOf((await createAt(harness, offer, rest)).id, query);
    },
  };
}

function wrong(name: string, offer: Exclude<OfferName, 'all'>, typed: Record<string, string>): Scene {
  return {
    name: `errors, ${name}`,
    status: 422,
    async make(harness) {
      const page = await open(harness, (await createAt(harness, offer)).id);
      return formOf(page, typed);
    },
  };
}

/** What a browser would send to show the page that answers it. */
function formOf(page: CheckoutPage, typed: Record<string, string>) {
  const { action, values } = page.forms[0]!;
  return { path: action.pathname + action.search + action.hash, form: { ...values, ...typed } };
}

async function expired(harness: Harness) {
  const { id } = await createAt(harness, 'details', { expires_in: 300, ...RETURN });
  harness.clock.advance(300_001);
  return id;
}

/** A payment of which an administrator recorded money. */
export async function recorded(harness: Harness, amount_minor = 49_90, offer: OfferName = 'details') {
  const { id } = await createAt(harness, offer, {
    amount: 49.9,
    merchant_reference: 'ORDER-1001',
    ...RETURN,
  });
  await haveReviewers(harness.service);
  const money = {
    amount_minor,
    received_on: '2026-11-20',
    bank_reference: null,
    note: null,
    version: null,
  };
  await harness.service.journal.commit((transaction) => recordMoney(transaction, ANA, id, money), id);
  return id;
}

/** The money of a payment went back, as a bank line shows it. */
async function paidBack(harness: Harness, id: string): Promise<string> {
  await harness.service.journal.commit(async (transaction) => {
    const before = (await lockRow(transaction, PAYMENTS, id))!;
    const [received] = JSON.parse(before.review!);
    const back = { ...received, act: 'return', entry_version: before.version + 1, line: 'lin_back' };
    const [after] = await transaction.change<Payment>(
      `update payments set review = ?, version = version + 1 where id = ? returning ${PAYMENTS.columnList}`,
      JSON.stringify([...JSON.parse(before.review!), back]),
      id,
    );
    await recordPayment(transaction, REVIEWER, 'payment.money_returned', before, after!);
  }, id);
  return id;
}

export const SCENES: readonly Scene[] = [
  pending('one method', 'details'),
  pending('several methods', 'all'),
  pending('several methods, another chosen', 'all', {}, { method: 'cash' }),
  pending('prefilled', 'details', { customer: { name: 'Ada Lovelace', email: 'ada@example.org' } }),
  pending(
    'prefilled, changing it',
    'details',
    { customer: { name: 'Ada Lovelace', email: 'ada@example.org' } },
    { edit: 'contact' },
  ),
  pending('test card', 'card'),
  pending('transfer in EUR', 'transfer'),
  pending('transfer in CHF', 'transfer', { currency: 'CHF' }),
  pending('transfer in INR', 'transfer', { currency: 'INR', amount: 4999 }),
  pending('transfer in BRL', 'transfer', { currency: 'BRL' }),
  pending('transfer in USD', 'transfer', { currency: 'USD' }),
  pending('manual', 'cash'),
  pending('bare', 'details', {
    merchant_reference: null,
    description: null,
    return_url: null,
    cancel_url: null,
  }),
  wrong('everything empty', 'details', {}),
  wrong('a card that is refused', 'card', { ...TYPED.card, 'card-number': '4000 0000 0000 0002' }),
  wrong('an IBAN mistyped', 'transfer', {
    ...TYPED.transfer,
    'transfer-iban': 'GB82 WEST 1234 5698 7654 33',
  }),
  {
    name: 'cancel question',
    status: 200,
    make: async (harness) => pathOf((await createAt(harness, 'details', RETURN)).id, { view: 'cancel' }),
  },
  ...(['transfer', 'card', 'cash', 'details'] as const).map(
    (offer): Scene => ({
      name: `requires review, ${offer}`,
      status: 200,
      make: async (harness) => pathOf((await submitted(harness, offer)).id),
    }),
  ),
  {
    name: 'requires review, no way back',
    status: 200,
    make: async (harness) =>
      pathOf((await submitted(harness, 'details', { return_url: null, cancel_url: null })).id),
  },
  {
    name: 'approved',
    status: 200,
    async make(harness) {
      const { id } = await submitted(harness, 'card', { description: LONG_TEXT });
      await decide(harness, id, 'approve');
      return pathOf(id);
    },
  },
  {
    name: 'rejected',
    status: 200,
    async make(harness) {
      const { id } = await submitted(harness, 'details');
      await decide(harness, id, 'reject');
      return pathOf(id);
    },
  },
  {
    name: 'rejected with a message',
    status: 200,
    async make(harness) {
      const { id } = await submitted(harness, 'transfer');
      await decide(harness, id, 'reject', 'The transfer did not arrive.\nWrite to us when it was sent.');
      return pathOf(id);
    },
  },
  {
    name: 'requires review, money recorded',
    status: 200,
    make: async (harness) => pathOf(await recorded(harness)),
  },
  {
    name: 'rejected, money recorded',
    status: 200,
    async make(harness) {
      const id = await recorded(harness);
      await decide(harness, id, 'reject');
      return pathOf(id);
    },
  },
  {
    name: 'cancelled by the customer',
    status: 200,
    async make(harness) {
      const { id } = await createAt(harness, 'details', RETURN);
      await send(await open(harness, id, { view: 'cancel' }));
      return pathOf(id);
    },
  },
  {
    name: 'cancelled by the merchant',
    status: 200,
    async make(harness) {
      const { id } = await harness.create(RETURN);
      await harness.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      return pathOf(id);
    },
  },
  {
    name: 'cancelled, no way back',
    status: 200,
    async make(harness) {
      const { id } = await createAt(harness, 'details');
      await send(await open(harness, id, { view: 'cancel' }));
      return pathOf(id);
    },
  },
  { name: 'expired', status: 410, make: async (harness) => pathOf(await expired(harness)) },
  {
    name: 'expired, a new link asked for',
    status: 410,
    async make(harness) {
      const id = await expired(harness);
      await send(await open(harness, id));
      return pathOf(id);
    },
  },
  {
    name: 'expired, announced after it',
    status: 410,
    async make(harness) {
      const { id } = await createAt(harness, 'transfer', { expires_in: 300, ...RETURN });
      const page = await open(harness, id);
      harness.clock.advance(300_001);
      await send(page, TYPED.transfer);
      return pathOf(id);
    },
  },
  {
    name: 'requires review, a part recorded',
    status: 200,
    make: async (harness) => pathOf(await recorded(harness, 20_00, 'transfer')),
  },
  {
    name: 'approved with a part',
    status: 200,
    async make(harness) {
      const id = await recorded(harness, 20_00);
      await decide(harness, id, 'approve');
      return pathOf(id);
    },
  },
  {
    name: 'approved with more',
    status: 200,
    async make(harness) {
      const id = await recorded(harness, 60_00);
      await decide(harness, id, 'approve');
      return pathOf(id);
    },
  },
  {
    name: 'approved, paid back',
    status: 200,
    async make(harness) {
      const id = await recorded(harness, 49_90, 'transfer');
      await decide(harness, id, 'approve');
      return pathOf(await paidBack(harness, id));
    },
  },
  {
    name: 'announced from a form that was refused',
    status: 403,
    make: async (harness) =>
      formOf(await open(harness, (await createAt(harness, 'transfer')).id), {
        ...TYPED.transfer,
        token: 'forged',
      }),
  },
  { name: 'unknown', status: 404, make: async () => '/payment.php?payment_id=unknown' },
  {
    name: 'method not offered',
    status: 404,
    make: async (harness) => pathOf((await createAt(harness, 'details')).id, { method: 'cash' }),
  },
  {
    name: 'too many forms',
    status: 429,
    async make(harness) {
      const page = await open(harness, (await createAt(harness, 'details')).id);
      for (let i = 0; i < 30; i++) await send(page);
      return formOf(page, {});
    },
  },
  {
    name: 'server error',
    status: 500,
    async make(harness) {
      const { id } = await createAt(harness, 'details');
      await harness.service.journal.commit(async (transaction) => {
        // As a defect of ours would write it: the history agrees with the row.
        const before = (await lockRow(transaction, PAYMENTS, id))!;
        const [spoilt] = await transaction.change<Payment>(
          `update payments set customer = '{', version = version + 1 where id = ? returning ${PAYMENTS.columnList}`,
          id,
        );
        await recordPayment(transaction, REVIEWER, 'test.row_spoilt', before, spoilt!);
      }, id);
      return pathOf(id);
    },
  },
  {
    name: 'form refused',
    status: 403,
    make: async (harness) =>
      formOf(await open(harness, (await createAt(harness, 'details')).id), { token: 'forged' }),
  },
];

export { FROM_OUR_PAGE };
