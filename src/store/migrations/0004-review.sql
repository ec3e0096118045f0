-- Who reviews payments and how they prove who they are, what they write, and merchants that are suspended.

alter table payments add column payer_email text;
alter table payments add column payer_account text;
alter table payments add column submitted_at bigint;
alter table payments add column decided_at bigint;
alter table payments add column review text;
alter table payments add column claimed_by text;
alter table payments add column claimed_until bigint;
alter table payments add column method text;

-- What waits for review, with all that the queue is narrowed and counted by: its pages and sums read this index alone.
create index payments_waiting on payments
  (coalesce(submitted_at, created_at), id, merchant_id, mode, currency, amount_minor, claimed_by, claimed_until, status,
   method, submitted_at, created_at)
  where status = 'requires_review';
create index payments_decided on payments (decided_at, status) where decided_at is not null;
-- What a merchant's amounts usually are.
create index payments_decided_amounts on payments (merchant_id, mode, currency, decided_at, amount_minor, id)
  where decided_at is not null;
create index payments_link_requested on payments (link_requested_at, id) where link_requested_at is not null;
create index payments_by_payer_email on payments (payer_email, id) where payer_email is not null;
create index payments_by_payer_account on payments (payer_account, id) where payer_account is not null;
create index payments_by_amount on payments (amount_minor, id);
-- Newest first of one status, whichever merchant's. What is pending is found by its id: creating a payment pays for no more.
create index payments_past_pending on payments (mode, status, id) where status <> 'pending';
-- A reference is looked up within its merchant and over all of them: it stands first.
drop index payments_by_reference;
create index payments_by_reference on payments (merchant_reference, merchant_id, mode, id) where merchant_reference is not null;

-- The seal that closes an entry.
create index seals_by_last_entry on seals (last_entry);

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
  updated_at bigint not null
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

create table merchant_states (
  merchant_id text /*postgres collate "C" */ primary key,
  suspended_at bigint,
  suspended_by text,
  reason text,
  salt text not null,
  version bigint not null,
  updated_at bigint not null
) /*sqlite without rowid */;
