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
