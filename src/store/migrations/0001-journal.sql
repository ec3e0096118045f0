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
