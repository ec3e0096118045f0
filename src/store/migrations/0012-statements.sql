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
create index statement_lines_by_payment on statement_lines (payment_id, id) where payment_id is not null;
-- What is to be erased some day.
create index statement_lines_whole on statement_lines (day, id) where details is not null;
