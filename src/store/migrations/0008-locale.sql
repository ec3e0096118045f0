-- The language that a merchant asks for, in which checkout meets the customer.

alter table payments add column locale text;
