-- Merchants that registered or were taken over from the configuration, their keys, and invitations to register.

-- One row for each merchant of the store; one that stands in the configuration has a row once it was suspended.
create table merchants (
  id text /*postgres collate "C" */ primary key,
  suspended_at bigint,
  suspended_by text,
  changes text,
  salt text not null,
  version bigint not null,
  updated_at bigint not null,
  name text,
  email text,
  website text,
  support text,
  methods text,
  limits text,
  created_at bigint
) /*sqlite without rowid */;
insert into merchants (id, suspended_at, suspended_by, changes, salt, version, updated_at)
  select merchant_id, suspended_at, suspended_by, reason, salt, version, updated_at from merchant_states;
drop table merchant_states;

create table api_keys (
  id text /*postgres collate "C" */ primary key,
  digest text not null unique,
  merchant_id text /*postgres collate "C" */ not null,
  mode text not null check (mode in ('live', 'test')),
  name text,
  last_four text,
  replaced_by text,
  salt text not null,
  version bigint not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  made_by text
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
