// What administrators and operators do about a merchant: suspend it, and let it go on.
import { phrase } from '../lib/phrases.ts';
import { type Acts, act, reasonTaken } from '../web/act.ts';
import { changeMerchantState, REASON_MAXIMUM, reasonFault } from './change.ts';
import type { Merchant } from './merchant.ts';

export interface ActiveOrNot extends Merchant {
  isSuspended: boolean;
}

const takes = () => ({
  reason: reasonTaken(REASON_MAXIMUM, reasonFault, {
    described: 'Why. For administrators alone.',
    option: 'why; for administrators alone',
    readBy: phrase('Only administrators read it.'),
  }),
});

const suspend = act({
  name: 'suspend',
  may: 'administer',
  takes,
  does: (journal, { id }: ActiveOrNot, { reason }, by) =>
    changeMerchantState(journal, id, 'suspended', by, reason),
  isDone: ({ isSuspended }) => isSuspended,
  asks: {
    link: phrase('Suspend…'),
    title: phrase('Suspend this merchant?'),
    lead: phrase(
      'Within a second its API keys are refused and its customers can no longer send a payment. What was sent can still be reviewed.',
    ),
    button: phrase('Suspend the merchant'),
    look: 'danger',
  },
  command: {
    description: 'refuse its keys and its customers from now on',
    example: ' --reason "Under inquiry"',
    says: (_, { id, name }) => ({
      json: { id, name, status: 'suspended' },
      text: `${name} (${id}) is suspended: within a second every server refuses its keys, and its customers cannot pay.\nNext, when it may go on: counterfoil merchants resume ${id} --reason "…"`,
    }),
  },
});

const resume = act({
  name: 'resume',
  may: 'administer',
  takes,
  does: (journal, { id }: ActiveOrNot, { reason }, by) =>
    changeMerchantState(journal, id, 'resumed', by, reason),
  isDone: ({ isSuspended }) => !isSuspended,
  asks: {
    link: phrase('Resume…'),
    title: phrase('Resume this merchant?'),
    lead: phrase('Within a second its API keys work again, and its customers can pay.'),
    button: phrase('Resume the merchant'),
  },
  command: {
    description: 'let a suspended merchant go on',
    example: ' --reason "All is well"',
    says: (_, { id, name }) => ({
      json: { id, name, status: 'active' },
      text: `${name} (${id}) goes on: its keys work again within a second.`,
    }),
  },
});

export const MERCHANT_ACTS: Acts<ActiveOrNot> = {
  thing: 'a merchant',
  command: 'counterfoil merchants',
  page: '/merchants/:merchant_id',
  acts: [suspend, resume],
};
