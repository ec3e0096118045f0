-- Payments, and the answers kept for idempotency keys.

create table payments (
  id text /*postgres collate "C" */ not null unique,
  merchant_id text /*postgres collate "C" */ not null,
  mode text not null check (mode in ('live', 'test')),
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  status text not null check (status in ('pending', 'requires_review', 'approved', 'rejected', 'cancelled')),
  status_reason text,
  merchant_name text not null,
  merchant_reference text,
  description text,
  return_url text,
  cancel_url text,
  customer text,
  metadata text,
  payment_details text,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  expires_at bigint not null,
  -- A payment's id begins with the moment of its creation: a merchant's payments lie together, in the order they were made.
  primary key (merchant_id, mode, id)
) /*sqlite without rowid */;

create index payments_by_reference on payments (merchant_id, mode, merchant_reference, id) where merchant_reference is not null;
create index payments_by_status on payments (merchant_id, mode, status, id);
create index payments_pending on payments (expires_at) where status = 'pending';

create table idempotency_keys (
  scope text /*postgres collate "C" */ primary key,
  request_digest text not null,
  status bigint not null,
  body text not null,
  created_at bigint not null
) /*sqlite without rowid */;
create index idempotency_keys_by_age on idempotency_keys (created_at);
