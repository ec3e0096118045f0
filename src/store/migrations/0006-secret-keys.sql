-- Which keys for secrets at rest a store needs, by their ids. The keys themselves stand in no store.

create table secret_keys (
  id text /*postgres collate "C" */ primary key,
  created_at bigint not null,
  beside_until bigint not null,
  removed_at bigint
) /*sqlite without rowid */;
