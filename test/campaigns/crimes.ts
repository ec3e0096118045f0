// What an intruder with write access would want most: more rights, somebody's session, another decision. Each must be found by name.
import type { Row, Value } from '../../src/store/database.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { acknowledgeOwn } from './acknowledging.ts';
import type { Access, Edit } from './intruder.ts';
import { type Crime, SCHEMA_CRIMES } from './schema-crimes.ts';

const HOUR_MS = 3_600_000;

/** Changes columns of a random row that `where` finds. */
function change(
  table: string,
  where: string,
  become: (row: Row, random: SeededRandom) => Record<string, Value>,
): Edit {
  return async (access, random) => {
    const key = 'id';
    const rows = await access.rows(`select * from ${table} where ${where} order by ${key}`);
    if (rows.length === 0) return undefined;
    const row = random.pick(rows);
    const columns = Object.entries(become(row, random)).filter(([name, value]) => row[name] !== value);
    if (columns.length === 0) return undefined;
    await access.rows(
      `update ${table} set ${columns.map(([name]) => `${name} = ?`).join(', ')} where ${key} = ?`,
      ...columns.map(([, value]) => value),
      row[key]!,
    );
    const subject = String(row[key]);
    return { told: `${table} ${subject}: ${JSON.stringify(Object.fromEntries(columns))}`, subject };
  };
}

/** Adds a row of the intruder's own, like one that is there but for what makes it theirs. */
function forge(table: string, become: (row: Row, mark: string) => Record<string, Value>): Edit {
  return async (access, random) => {
    const [row] = await access.rows(`select * from ${table} order by id desc limit 1`);
    if (!row) return undefined;
    const mark = random.next().toString(36).slice(2, 10);
    const id = `${String(row.id).slice(0, -mark.length)}${mark}`;
    const forged: Row = { ...row, ...become(row, mark), id, version: 1 };
    const columns = Object.keys(forged);
    await access.rows(
      `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      ...Object.values(forged),
    );
    return { told: `forged ${id} in ${table}`, subject: id };
  };
}

const HASH = '$argon2id$v=19$m=65536,t=3,p=1$aW50cnVkZXI$aW50cnVkZXI';

/** A review act with another author, time or text, or one that never was. */
function otherReview({ review, version, updated_at }: Row, random: SeededRandom): Record<string, Value> {
  const acts = JSON.parse(String(review ?? '[]')) as Record<string, unknown>[];
  const never = { act: 'approve', by: 'adm_never', at: updated_at, entry_version: version };
  if (acts.length === 0) return { review: JSON.stringify([never]) };
  const at = random.between(0, acts.length - 1);
  const become = random.pick([
    () => acts.with(at, { ...acts[at], by: 'adm_somebody_else' }),
    () => acts.with(at, { ...acts[at], note: 'I never said so.' }),
    () => acts.with(at, { ...acts[at], at: Number(acts[at]!.at) - HOUR_MS }),
    () => acts.with(at, { ...acts[at], act: acts[at]!.act === 'approve' ? 'reject' : 'approve' }),
    () => acts.toSpliced(at, 1),
    () => [...acts, never],
  ]);
  return { review: JSON.stringify(become()) };
}

/** The intruder's name for each, and how to do it. Nothing back where the store holds nothing to do it to. */
export const CRIMES: readonly Crime[] = [
  ...SCHEMA_CRIMES,
  { kind: 'acknowledge for himself', edit: acknowledgeOwn },
  {
    kind: 'insert an administrator',
    edit: forge('administrators', (_, mark) => ({
      email: `${mark}@example.com`,
      role: 'administrator',
      password: HASH,
      disabled_at: null,
      setup_digest: null,
    })),
  },
  {
    kind: 'raise a role',
    edit: change('administrators', "role <> 'administrator'", () => ({ role: 'administrator' })),
  },
  {
    kind: 'replace a password',
    edit: change('administrators', 'password is not null', () => ({ password: HASH })),
  },
  {
    kind: 'replace a TOTP secret',
    edit: change('administrators', 'totp_secret is not null', () => ({ totp_secret: 'JBSWY3DPEHPK3PXP' })),
  },
  {
    kind: 'make a spent code good again',
    edit: change('administrators', 'totp_step is not null', ({ totp_step }) => ({
      totp_step: Number(totp_step) - 1,
    })),
  },
  {
    kind: 'plant a set-up link',
    edit: change('administrators', 'password is not null', ({ updated_at }) => ({
      setup_digest: 'of-a-link-of-mine',
      setup_expires_at: Number(updated_at) + HOUR_MS,
    })),
  },
  {
    // No number at all, which only SQLite takes.
    kind: 'disable an administrator for ever',
    on: 'sqlite',
    edit: change('administrators', 'disabled_at is null', () => ({ disabled_at: Infinity })),
  },
  {
    kind: 're-enable an administrator',
    edit: change('administrators', 'disabled_at is not null', () => ({ disabled_at: null })),
  },
  {
    kind: 'forge a passkey',
    edit: forge('passkeys', (_, mark) => ({ credential_id: mark, public_key: mark })),
  },
  { kind: 'forge a session', edit: forge('sessions', (_, mark) => ({ digest: mark, ended_at: null })) },
  {
    kind: 'bring a session back',
    edit: change('sessions', 'ended_at is not null', () => ({ ended_at: null })),
  },
  {
    kind: "give one's session to another",
    edit: async (access: Access, random: SeededRandom) => {
      const others = await access.rows<{ id: string }>('select id from administrators order by id');
      if (others.length < 2) return undefined;
      return change('sessions', '1 = 1', () => ({ administrator_id: random.pick(others).id }))(
        access,
        random,
      );
    },
  },
  {
    kind: 'forge a token',
    edit: forge('administrator_tokens', (_, mark) => ({ digest: mark, revoked_at: null })),
  },
  {
    kind: "raise a token's role",
    edit: change('administrator_tokens', "role <> 'administrator'", () => ({ role: 'administrator' })),
  },
  {
    kind: 'lift a suspension',
    edit: change('merchants', 'suspended_at is not null', () => ({
      suspended_at: null,
      suspended_by: null,
    })),
  },
  {
    kind: 'insert a merchant',
    edit: forge('merchants', (_, mark) => ({ name: `Shop ${mark}`, email: `${mark}@example.com` })),
  },
  {
    kind: 'raise the limits of a merchant',
    edit: change('merchants', 'name is not null', () => ({ limits: '{"writes_per_second":100000}' })),
  },
  {
    kind: 'take over a merchant',
    edit: change('merchants', 'email is not null', () => ({ email: 'of-mine@example.com' })),
  },
  {
    kind: 'forge an API key',
    edit: forge('api_keys', (_, mark) => ({ digest: mark, expires_at: null, revoked_at: null })),
  },
  {
    kind: 'put a digest of mine in the place of a key',
    edit: change('api_keys', '1 = 1', () => ({ digest: 'of-a-key-of-mine' })),
  },
  {
    kind: 'bring a revoked key back',
    edit: change('api_keys', 'revoked_at is not null', () => ({ revoked_at: null })),
  },
  {
    kind: 'give a key more time',
    edit: change('api_keys', 'expires_at is not null', ({ expires_at }) => ({
      expires_at: Number(expires_at) + HOUR_MS,
    })),
  },
  {
    kind: 'make a test key a live one',
    edit: change('api_keys', "mode = 'test'", () => ({ mode: 'live' })),
  },
  {
    kind: "give a merchant's key to another merchant",
    edit: change('api_keys', '1 = 1', () => ({ merchant_id: 'mer_of_mine' })),
  },
  {
    kind: 'forge an invitation',
    edit: forge('invites', (_, mark) => ({ digest: mark, used_at: null, revoked_at: null, mode: 'live' })),
  },
  {
    kind: 'make a used invitation good again',
    edit: change('invites', 'used_at is not null', () => ({ used_at: null, merchant_id: null })),
  },
  {
    kind: 'bring a revoked invitation back',
    edit: change('invites', 'revoked_at is not null', () => ({ revoked_at: null })),
  },
  { kind: "edit a payment's review", edit: change('payments', "status <> 'pending'", otherReview) },
  {
    kind: 'change who claimed a payment',
    edit: change('payments', '1 = 1', ({ updated_at }) => ({
      claimed_by: 'adm_somebody_else',
      claimed_until: Number(updated_at) + HOUR_MS,
    })),
  },
  {
    kind: 'change when a payment was decided',
    edit: change('payments', "status in ('approved', 'rejected')", ({ decided_at, updated_at }) => ({
      decided_at: Number(decided_at ?? updated_at) - HOUR_MS,
    })),
  },
  {
    kind: 'approve a payment',
    edit: change('payments', "status in ('requires_review', 'rejected')", ({ version }) => ({
      status: 'approved',
      version: Number(version) + 1,
    })),
  },
  {
    kind: 'put the money elsewhere',
    edit: change('payments', 'payment_details is null', () => ({ payment_details: '{"iban":"of mine"}' })),
  },
];
