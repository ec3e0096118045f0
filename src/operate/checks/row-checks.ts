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
  rowCheck<Payment>({
    table: PAYMENTS,
    noun: 'payment',
    prefix: PAYMENT_ID_PREFIX,
    creates: ['payment.created'],
    states: {
      first: 'nothing',
      after: new Map([
        ['payment.created', 'pending'],
        ...STATUSES.map((status): [string, string] => [`payment.${status}`, status]),
      ]),
      of: ({ status }) => status,
    },
  }),
  keptAnswers,
  rowCheck<StoredMerchant>({
    table: MERCHANTS,
    noun: 'merchant',
    prefix: MERCHANT_ID_PREFIX,
    // One of the configuration has a row from its first suspension on.
    creates: ['merchant.registered', 'merchant.imported', 'merchant.suspended'],
    states: {
      first: 'active', // one that was taken over from the configuration alone never changed its state
      after: new Map([
        ['merchant.registered', 'active'],
        ['merchant.suspended', 'suspended'],
        ['merchant.resumed', 'active'],
      ]),
      of: ({ suspended_at }) => (suspended_at === null ? 'active' : 'suspended'),
    },
  }),
  rowCheck<StoredKey>({
    table: API_KEYS,
    noun: 'API key',
    prefix: KEY_ID_PREFIX,
    creates: ['key.issued', 'key.imported'],
    states: {
      first: 'not revoked',
      after: new Map([['key.revoked', 'revoked']]),
      of: ({ revoked_at }) => (revoked_at === null ? 'not revoked' : 'revoked'),
    },
  }),
  rowCheck({ table: INVITES, noun: 'invitation', prefix: INVITE_ID_PREFIX, creates: ['invite.created'] }),
  rowCheck({
    table: ADMINISTRATORS,
    prefix: 'adm_',
    noun: 'administrator',
    creates: ['administrator.created'],
  }),
  rowCheck({ table: PASSKEYS, prefix: 'psk_', noun: 'passkey', creates: ['passkey.added'], mayBeGone }),
  rowCheck({ table: SESSIONS, prefix: 'ses_', noun: 'session', creates: ['session.started'] }),
  rowCheck({ table: TOKENS, prefix: 'tok_', noun: 'token', creates: ['token.created'] }),
  secretKeys,
  rowCheck<Endpoint>({
    table: ENDPOINTS,
    noun: 'webhook endpoint',
    prefix: ENDPOINT_ID_PREFIX,
    creates: ['webhook.created'],
    states: {
      first: 'enabled',
      after: new Map([
        ['webhook.disabled', 'disabled'],
        ['webhook.secret_lost', 'disabled'],
        ['webhook.enabled', 'enabled'],
      ]),
      of: ({ disabled_at }) => (disabled_at === null ? 'enabled' : 'disabled'),
    },
    mayBeGone,
  }),
  rowCheck({
    table: kept.STATEMENTS,
    noun: 'statement',
    prefix: kept.STATEMENT_ID_PREFIX,
    creates: ['statement.imported'],
  }),
  rowCheck({
    table: kept.LAYOUTS,
    noun: 'CSV layout',
    prefix: kept.LAYOUT_ID_PREFIX,
    creates: ['csv_layout.confirmed'],
  }),
  rowCheck<kept.KeptRule>({
    table: kept.RULES,
    noun: 'rule of statement lines',
    prefix: kept.RULE_ID_PREFIX,
    creates: ['line_rule.made'],
    states: {
      first: 'active',
      after: new Map([
        ['line_rule.ended', 'ended'],
        ['line_rule.erased', 'ended'],
      ]),
      of: ({ state }) => state,
    },
  }),
  rowCheck<kept.KeptLine>({
    table: kept.LINES,
    noun: 'statement line',
    prefix: kept.LINE_ID_PREFIX,
    creates: ['line.imported', 'line.part_added'],
    states: {
      first: 'open',
      after: new Map([
        ['line.matched', 'matched'],
        ['line.ignored', 'ignored'],
        ['line.split', 'split'],
        ['line.replaced', 'replaced'],
        ['line.undone', 'undone'],
        ['line.reopened', 'open'],
      ]),
      of: ({ state }) => state,
    },
  }),
];
