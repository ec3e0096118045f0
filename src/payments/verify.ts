// What the history says of payments and stored responses, for holding their rows against it.
import type { AuditEntry } from '../journal/audit-entry.ts';
import { entriesOf } from '../journal/queries.ts';
import { compareRows, entryFacts, HistoryBroken, type RowCheck, rowCheck } from '../journal/rows.ts';
import { ANSWER_SUBJECT_PREFIX, FORGOTTEN_SUBJECT } from './idempotency.ts';
import { PAYMENT_ID_PREFIX, PAYMENTS, type Payment, STATUSES } from './payment.ts';
import { KEPT_ANSWERS, type KeptAnswer } from './queries.ts';

/** The status that an action leaves a payment in; others leave it as it is. */
const STATUS_AFTER = new Map<string, string>([
  ['payment.created', 'pending'],
  ...STATUSES.map((status): [string, string] => [`payment.${status}`, status]),
]);

export const verifyPayments = rowCheck<Payment>({
  table: PAYMENTS,
  noun: 'payment',
  prefix: PAYMENT_ID_PREFIX,
  creates: ['payment.created'],
  states: { first: 'nothing', after: STATUS_AFTER, of: ({ status }) => status },
});

/** Up to when a forgetting took answers away, in milliseconds since 1970. Throws `HistoryBroken`. */
function forgottenUntil(entry: AuditEntry): number {
  const { until } = entryFacts(entry);
  if (typeof until === 'number') return until;
  throw new HistoryBroken(`the facts of entry ${entry.number} do not say what was forgotten`, {
    entry: entry.number,
    subject: entry.subject,
  });
}

export const verifyKeptAnswers: RowCheck = async (view, report) => {
  // What was forgotten is rightly gone up to the latest moment that a forgetting names; nodes' clocks differ a little.
  const forgettings = await entriesOf(view, FORGOTTEN_SUBJECT);
  const until = forgettings.map(forgottenUntil).reduce((latest, one) => Math.max(latest, one), 0);
  const kept_answers = await compareRows<KeptAnswer>(
    view,
    {
      table: KEPT_ANSWERS,
      key: 'scope',
      noun: 'stored response',
      prefix: ANSWER_SUBJECT_PREFIX,
      keyPrefix: ANSWER_SUBJECT_PREFIX,
      creates: ['answer.kept'],
      // An erased one's last entry says that there is no row.
      mayBeGone: ({ last }) => last.row === null || last.at <= until,
    },
    report,
  );
  return { kept_answers };
};
