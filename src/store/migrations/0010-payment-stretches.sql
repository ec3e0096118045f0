-- Which stretches of the history hold entries about a merchant's payments. A worker lists them; no create pays for it.

create table payment_stretches (
  merchant_id text /*postgres collate "C" */ not null,
  mode text not null,
  stretch bigint not null,
  primary key (merchant_id, mode, stretch)
) /*sqlite without rowid */;
