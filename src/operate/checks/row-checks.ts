// Every table that verifying holds against the history: one list for the command, the console and the tests.
import { ADMINISTRATORS, PASSKEYS, SESSIONS, TOKENS } from '../../administrators/administrator.ts';
import type { AuditEntry } from '../../journal/audit-entry.ts';
import {
  isFirstUntold,
  SECRET_KEY_PREFIX,
  SECRET_KEYS,
  type StoredSecretKey,
  storedSecretKeys,
} from '../../journal/keys/open-ring.ts';
import { entriesOf } from '../../journal/queries.ts';
import { compareRows, entryFacts, HistoryBroken, type RowCheck, rowCheck } from '../../journal/rows.ts';
import {
  API_KEYS,
  INVITE_ID_PREFIX,
  INVITES,
  KEY_ID_PREFIX,
  MERCHANT_ID_PREFIX,
  MERCHANTS,
  type StoredKey,
  type StoredMerchant,
} from '../../merchants/merchant.ts';
import { ANSWER_SUBJECT_PREFIX, FORGOTTEN_SUBJECT } from '../../payments/idempotency.ts';
import { PAYMENT_ID_PREFIX, PAYMENTS, type Payment, STATUSES } from '../../payments/payment.ts';
import { KEPT_ANSWERS, type KeptAnswer } from '../../payments/queries.ts';
import * as kept from '../../statements/kept.ts';
import { ENDPOINT_ID_PREFIX, ENDPOINTS, type Endpoint } from '../../webhooks/endpoint.ts';

export const keptAnswers: RowCheck = async (view, report) => {
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

/** Up to when a forgetting took answers away, in milliseconds since 1970. Throws `HistoryBroken`. */
function forgottenUntil(entry: AuditEntry): number {
  const { until } = entryFacts(entry);
  if (typeof until === 'number') return until;
  throw new HistoryBroken(`the facts of entry ${entry.number} do not say what was forgotten`, {
    entry: entry.number,
    subject: entry.subject,
  });
}

const secretKeys: RowCheck = async (view, report) => {
  if (await isFirstUntold(view, await storedSecretKeys(view))) return { secret_keys: 1 };
  const table = {
    table: SECRET_KEYS,
    key: 'id',
    prefix: SECRET_KEY_PREFIX,
    keyPrefix: SECRET_KEY_PREFIX,
    noun: 'key for secrets',
    creates: ['secrets.key_used', 'secrets.key_recorded'],
  } as const;
  return { secret_keys: await compareRows<StoredSecretKey>(view, table, report) };
};

/** For a table that loses rows: the last entry of one that was removed says that there is none. */
const mayBeGone = ({ last }: { last: { row: unknown } }) => last.row === null;

/** What the history says of each table: which entries create a row, and the state that an action leaves it in. */
export const ROW_CHECKS: readonly RowCheck[] = [
  rowCheck<Payment>(PAYMENTS, 'payment', PAYMENT_ID_PREFIX, ['payment.created'], {
    states: {
      first: 'nothing',
      after: {
        'payment.created': 'pending',
        ...Object.fromEntries(STATUSES.map((status) => [`payment.${status}`, status])),
      },
      of: ({ status }) => status,
    },
  }),
  keptAnswers,
  // One of the configuration has a row from its first suspension on.
  rowCheck<StoredMerchant>(
    MERCHANTS,
    'merchant',
    MERCHANT_ID_PREFIX,
    ['merchant.registered', 'merchant.imported', 'merchant.suspended'],
    {
      states: {
        first: 'active', // one that was taken over from the configuration alone never changed its state
        after: {
          'merchant.registered': 'active',
          'merchant.suspended': 'suspended',
          'merchant.resumed': 'active',
        },
        of: ({ suspended_at }) => (suspended_at === null ? 'active' : 'suspended'),
      },
    },
  ),
  rowCheck<StoredKey>(API_KEYS, 'API key', KEY_ID_PREFIX, ['key.issued', 'key.imported'], {
    states: {
      first: 'not revoked',
      after: { 'key.revoked': 'revoked' },
      of: ({ revoked_at }) => (revoked_at === null ? 'not revoked' : 'revoked'),
    },
  }),
  rowCheck(INVITES, 'invitation', INVITE_ID_PREFIX, ['invite.created']),
  rowCheck(ADMINISTRATORS, 'administrator', 'adm_', ['administrator.created']),
  rowCheck(PASSKEYS, 'passkey', 'psk_', ['passkey.added'], { mayBeGone }),
  rowCheck(SESSIONS, 'session', 'ses_', ['session.started']),
  rowCheck(TOKENS, 'token', 'tok_', ['token.created']),
  secretKeys,
  rowCheck<Endpoint>(ENDPOINTS, 'webhook endpoint', ENDPOINT_ID_PREFIX, ['webhook.created'], {
    states: {
      first: 'enabled',
      after: {
        'webhook.disabled': 'disabled',
        'webhook.secret_lost': 'disabled',
        'webhook.enabled': 'enabled',
      },
      of: ({ disabled_at }) => (disabled_at === null ? 'enabled' : 'disabled'),
    },
    mayBeGone,
  }),
  rowCheck(kept.STATEMENTS, 'statement', kept.STATEMENT_ID_PREFIX, ['statement.imported']),
  rowCheck(kept.LAYOUTS, 'CSV layout', kept.LAYOUT_ID_PREFIX, ['csv_layout.confirmed']),
  rowCheck<kept.KeptRule>(kept.RULES, 'rule of statement lines', kept.RULE_ID_PREFIX, ['line_rule.made'], {
    states: {
      first: 'active',
      after: { 'line_rule.ended': 'ended', 'line_rule.erased': 'ended' },
      of: ({ state }) => state,
    },
  }),
  rowCheck<kept.KeptLine>(
    kept.LINES,
    'statement line',
    kept.LINE_ID_PREFIX,
    ['line.imported', 'line.part_added'],
    {
      states: {
        first: 'open',
        after: {
          'line.matched': 'matched',
          'line.ignored': 'ignored',
          'line.split': 'split',
          'line.replaced': 'replaced',
          'line.undone': 'undone',
          'line.reopened': 'open',
        },
        of: ({ state }) => state,
      },
    },
  ),
];
