-- What customers send at checkout, what a reviewer tells them, and that a new link was asked for.

alter table payments add column submission text;
alter table payments add column review_message text;
alter table payments add column link_requested_at bigint;
