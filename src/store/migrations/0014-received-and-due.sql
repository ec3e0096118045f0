-- The day that customers read as the last to pay by, what is known to have arrived, and when a customer announced a transfer.

alter table payments add column pay_by text not null default '';
alter table payments add column received_minor bigint;
alter table payments add column returned_minor bigint;
alter table payments add column announced_at bigint;
create index payments_announced on payments (announced_at, id) where announced_at is not null;
