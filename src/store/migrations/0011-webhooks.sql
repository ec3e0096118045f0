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
  failing_since bigint
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
