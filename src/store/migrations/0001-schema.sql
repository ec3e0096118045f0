-- The schema of the first release: every table, in the order of the rooms. What comes after a release is a migration of its own.

-- The journal: numbered audit entries, one seal for each commit, and the row that orders them.

create table journal_head (
  id bigint primary key check (id = 1),
  entries bigint not null,
  seals bigint not null
);
insert into journal_head (id, entries, seals) values (1, 0, 0);

create table audit_entries (
  number bigint primary key,
  at bigint not null,
  actor text not null,
  action text not null,
  subject text /*postgres collate "C" */ not null,
  request_id text,
  facts text not null
) /*sqlite without rowid */;
create index audit_entries_by_subject on audit_entries (subject, number);

create table seals (
  number bigint primary key,
  first_entry bigint not null,
  last_entry bigint not null,
  at bigint not null,
  hash text not null
) /*sqlite without rowid */;
-- The seal that closes an entry.
create index seals_by_last_entry on seals (last_entry);

/*sqlite
create trigger audit_entries_no_update before update on audit_entries begin select raise(abort, 'audit entries are append-only'); end;
create trigger audit_entries_no_delete before delete on audit_entries begin select raise(abort, 'audit entries are append-only'); end;
create trigger seals_no_update before update on seals begin select raise(abort, 'seals are append-only'); end;
create trigger seals_no_delete before delete on seals begin select raise(abort, 'seals are append-only'); end;
*/
/*postgres
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger audit_entries_append_only before update or delete or truncate on audit_entries for each statement execute function refuse_change();
create trigger seals_append_only before update or delete or truncate on seals for each statement execute function refuse_change();
*/

-- Which keys for secrets at rest the store needs, by their ids. The keys themselves stand in no store.
create table secret_keys (
  id text /*postgres collate "C" */ primary key,
  created_at bigint not null,
  removed_at bigint
) /*sqlite without rowid */;

-- Administrators, and how they prove who they are.

create table administrators (
  id text /*postgres collate "C" */ primary key,
  email text not null unique,
  name text not null,
  role text not null check (role in ('administrator', 'reviewer', 'auditor')),
  password text,
  totp_secret text,
  totp_step bigint,
  recovery_codes text,
  setup_digest text unique,
  setup_expires_at bigint,
  disabled_at bigint,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  letters text
) /*sqlite without rowid */;

create table passkeys (
  id text /*postgres collate "C" */ primary key,
  administrator_id text not null,
  credential_id text not null unique,
  public_key text not null,
  counter bigint not null,
  transports text not null,
  name text not null,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  used_at bigint
) /*sqlite without rowid */;
create index passkeys_by_administrator on passkeys (administrator_id, id);

create table sessions (
  id text /*postgres collate "C" */ primary key,
  digest text not null unique,
  administrator_id text not null,
  factor text not null,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  expires_at bigint not null,
  ended_at bigint
) /*sqlite without rowid */;
create index sessions_by_administrator on sessions (administrator_id, id);

create table administrator_tokens (
  id text /*postgres collate "C" */ primary key,
  digest text not null unique,
  administrator_id text not null,
  role text not null check (role in ('administrator', 'reviewer', 'auditor')),
  name text not null,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint
) /*sqlite without rowid */;
create index administrator_tokens_by_administrator on administrator_tokens (administrator_id, id);

-- Merchants that registered or were taken over from the configuration, their keys, and invitations to register.

-- A merchant of the configuration has a row once it was suspended.
create table merchants (
  id text /*postgres collate "C" */ primary key,
  name text,
  email text,
  website text,
  support text,
  methods text,
  limits text,
  suspended_at bigint,
  suspended_by text,
  changes text,
  salt text not null,
  version bigint not null,
  created_at bigint,
  updated_at bigint not null,
  particulars text
) /*sqlite without rowid */;
-- Finds the merchants of the last minute: who registers may not look like one that another node made a moment ago.
create index merchants_by_age on merchants (created_at);

create table api_keys (
  id text /*postgres collate "C" */ primary key,
  digest text not null unique,
  merchant_id text /*postgres collate "C" */ not null,
  mode text not null check (mode in ('live', 'test')),
  name text,
  last_four text,
  replaced_by text,
  made_by text,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint
) /*sqlite without rowid */;
create index api_keys_by_merchant on api_keys (merchant_id, mode, created_at);
create index api_keys_by_maker on api_keys (made_by) where made_by is not null;

-- When keys were last used: a measurement, which nothing is decided by and no entry tells.
create table api_key_uses (
  key_id text /*postgres collate "C" */ primary key,
  used_at bigint not null
) /*sqlite without rowid */;

create table invites (
  id text /*postgres collate "C" */ primary key,
  digest text not null unique,
  mode text not null check (mode in ('live', 'test')),
  note text,
  merchant_id text,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint,
  revoked_at bigint
) /*sqlite without rowid */;

-- Payments, and the answers kept for idempotency keys.

create table payments (
  id text /*postgres collate "C" */ not null unique,
  merchant_id text /*postgres collate "C" */ not null,
  mode text not null check (mode in ('live', 'test')),
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  status text not null check (status in ('pending', 'requires_review', 'approved', 'rejected', 'cancelled')),
  status_reason text,
  version bigint not null,
  salt text not null,
  created_at bigint not null,
  updated_at bigint not null,
  expires_at bigint not null,
  pay_by text not null,
  -- What the merchant sent.
  merchant_name text not null,
  merchant_reference text,
  description text,
  return_url text,
  cancel_url text,
  locale text,
  customer text,
  metadata text,
  payment_details text,
  -- What the customer did at checkout, and what payments are found by of it.
  submission text,
  submitted_at bigint,
  announced_at bigint,
  link_requested_at bigint,
  method text,
  payer_email text,
  payer_account text,
  payer_name text,
  -- What reviewers did, and the money that is known to have arrived.
  claimed_by text,
  claimed_until bigint,
  review text,
  review_message text,
  decided_at bigint,
  bank_reference text,
  received_minor bigint,
  returned_minor bigint,
  -- A payment's id begins with the moment of its creation: a merchant's payments lie together, in the order they were made.
  primary key (merchant_id, mode, id)
) /*sqlite without rowid */;

-- A reference is looked up within its merchant and over all of them: it stands first.
create index payments_by_reference on payments (merchant_reference, merchant_id, mode, id) where merchant_reference is not null;
create index payments_by_status on payments (merchant_id, mode, status, id);
create index payments_pending on payments (expires_at) where status = 'pending';
-- What waits for review, with all that the queue is narrowed and counted by: its pages and sums read this index alone.
create index payments_waiting on payments
  (coalesce(submitted_at, created_at), id, merchant_id, mode, currency, amount_minor, claimed_by, claimed_until, status,
   method, submitted_at, created_at)
  where status = 'requires_review';
create index payments_decided on payments (decided_at, status) where decided_at is not null;
-- What a merchant's amounts usually are.
create index payments_decided_amounts on payments (merchant_id, mode, currency, decided_at, amount_minor, id)
  where decided_at is not null;
create index payments_announced on payments (announced_at, id) where announced_at is not null;
create index payments_link_requested on payments (link_requested_at, id) where link_requested_at is not null;
-- Few, so that a create costs little: a reference may stand on each payment of a merchant.
create index payments_link_requested_for on payments (merchant_reference, merchant_id, mode, id) where link_requested_at is not null;
create index payments_by_payer_email on payments (payer_email, id) where payer_email is not null;
create index payments_by_payer_account on payments (payer_account, id) where payer_account is not null;
create index payments_by_payer_name on payments (payer_name, id) where payer_name is not null;
create index payments_by_bank_reference on payments (bank_reference, id) where bank_reference is not null;
create index payments_by_amount on payments (amount_minor, id);
-- Newest first of one status, whichever merchant's. What is pending is found by its id: creating a payment pays for no more.
create index payments_past_pending on payments (mode, status, id) where status <> 'pending';

create table idempotency_keys (
  scope text /*postgres collate "C" */ primary key,
  request_digest text not null,
  status bigint not null,
  body text not null,
  created_at bigint not null
) /*sqlite without rowid */;
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Which stretches of the history hold entries about a merchant's payments. A worker lists them; no create pays for it.
create table payment_stretches (
  merchant_id text /*postgres collate "C" */ not null,
  mode text not null,
  stretch bigint not null,
  primary key (merchant_id, mode, stretch)
) /*sqlite without rowid */;

-- Bank statements as they were imported, and their lines with what became of each.

create table statements (
  id text /*postgres collate "C" */ primary key,
  account text /*postgres collate "C" */ not null,
  currency text,
  format text not null,
  file text not null,
  number text,
  first_day text,
  last_day text,
  opening_minor bigint,
  closing_minor bigint,
  lines bigint not null,
  faults text,
  digest text /*postgres collate "C" */ not null,
  salt text not null,
  version bigint not null,
  imported_at bigint not null
) /*sqlite without rowid */;
-- A statement that was imported is known again, on whichever node.
create unique index statements_by_digest on statements (digest);
create index statements_by_account on statements (account, id);

create table statement_lines (
  id text /*postgres collate "C" */ primary key,
  statement_id text /*postgres collate "C" */ not null,
  account text /*postgres collate "C" */ not null,
  fingerprint text /*postgres collate "C" */ not null,
  entry_reference text /*postgres collate "C" */,
  part_of_minor bigint,
  day text /*postgres collate "C" */ not null,
  amount_minor bigint not null,
  currency text not null,
  direction text not null check (direction in ('credit', 'debit')),
  booked bigint not null,
  reversal bigint not null,
  details text,
  state text not null,
  payment_id text /*postgres collate "C" */,
  note text,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
) /*sqlite without rowid */;
-- The same money in another file is one line.
create unique index statement_lines_by_fingerprint on statement_lines (account, fingerprint);
create index statement_lines_by_entry on statement_lines (account, entry_reference) where entry_reference is not null;
create index statement_lines_by_day on statement_lines (account, day, id);
create index statement_lines_by_state on statement_lines (state, day, id);
-- All lines, and those of a direction in whatever state, the newest first.
create index statement_lines_by_time on statement_lines (day, id);
create index statement_lines_by_direction on statement_lines (direction, day, id);
create index statement_lines_by_statement on statement_lines (statement_id, day, id);
-- The sums of each account, read from the index alone.
create index statement_lines_by_sum on statement_lines (account, currency, direction, state, booked, day, amount_minor);
create index statement_lines_by_payment on statement_lines (payment_id, id) where payment_id is not null;
-- What is to be erased some day.
create index statement_lines_whole on statement_lines (day, id) where details is not null;

-- Lines that are ignored when they come in, as the bookkeeper said it.
create table line_rules (
  id text /*postgres collate "C" */ primary key,
  direction text not null check (direction in ('credit', 'debit')),
  name_key text not null,
  other_account text not null,
  name text not null,
  reason text not null,
  state text not null check (state in ('active', 'ended')),
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index line_rules_by_state on line_rules (state, id);

-- How CSV exports of an account are read, as the bookkeeper confirmed it.
create table csv_layouts (
  id text /*postgres collate "C" */ primary key,
  account text /*postgres collate "C" */ not null,
  shape text /*postgres collate "C" */ not null,
  layout text not null,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
) /*sqlite without rowid */;
create unique index csv_layouts_by_account on csv_layouts (account, shape);

-- Webhook endpoints, where each has come to in the history, what was delivered to them, and each attempt. Events are not stored again.

create table webhook_endpoints (
  id text /*postgres collate "C" */ primary key,
  merchant_id text /*postgres collate "C" */ not null,
  mode text not null check (mode in ('live', 'test')),
  place bigint not null,
  url text not null,
  types text,
  description text,
  secret text,
  secret_made_at bigint not null,
  old_secret text,
  old_secret_until bigint,
  disabled_at bigint,
  disabled_reason text,
  disabled_note text,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
) /*sqlite without rowid */;
-- The place among a merchant's endpoints of a mode: two nodes cannot go beyond the largest number together.
create unique index webhook_endpoints_by_place on webhook_endpoints (merchant_id, mode, place);

-- What follows is the worker's: no entry tells it.

create table webhook_queues (
  endpoint_id text /*postgres collate "C" */ primary key,
  number bigint not null,
  leased_by text,
  leased_until bigint not null default 0,
  failing_since bigint,
  -- The URL that last answered with success: before it does, attempts are few.
  answered_url text
) /*sqlite without rowid */;

create table webhook_deliveries (
  id text /*postgres collate "C" */ primary key,
  endpoint_id text /*postgres collate "C" */ not null,
  event_id text not null,
  type text not null,
  payment_id text not null,
  number bigint not null,
  status text not null,
  created_at bigint not null,
  due_at bigint,
  attempts bigint not null default 0,
  tries bigint not null default 0
) /*sqlite without rowid */;
create unique index webhook_deliveries_by_event on webhook_deliveries (endpoint_id, number);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, due_at) where due_at is not null;
create index webhook_deliveries_by_endpoint on webhook_deliveries (endpoint_id, id);

create table webhook_attempts (
  delivery_id text /*postgres collate "C" */ not null,
  number bigint not null,
  at bigint not null,
  ms bigint not null,
  outcome text not null,
  status bigint,
  reason text not null,
  reply text,
  primary key (delivery_id, number)
) /*sqlite without rowid */;

-- Letters that leave by mail, and where their worker has come to in the history: no entry tells of them. A letter holds no words and no address.
create table letter_queues (
  name text /*postgres collate "C" */ primary key,
  number bigint not null,
  leased_by text,
  leased_until bigint not null default 0
) /*sqlite without rowid */;

create table letters (
  id text /*postgres collate "C" */ primary key,
  kind text not null,
  about text /*postgres collate "C" */ not null,
  merchant_id text,
  recipient text not null,
  once text /*postgres collate "C" */ not null,
  status text not null,
  created_at bigint not null,
  due_at bigint,
  attempts bigint not null default 0,
  answer text,
  sent_at bigint
) /*sqlite without rowid */;
create unique index letters_once on letters (once);
create index letters_due on letters (due_at, id) where due_at is not null;
create index letters_about on letters (about, id);
create index letters_failed on letters (id) where status = 'failed';
