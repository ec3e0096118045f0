-- What payments are found by that a bank statement shows: the payer's name, and the bank's reference that an administrator typed.

alter table payments add column payer_name text;
alter table payments add column bank_reference text;
create index payments_by_payer_name on payments (payer_name, id) where payer_name is not null;
create index payments_by_bank_reference on payments (bank_reference, id) where bank_reference is not null;
