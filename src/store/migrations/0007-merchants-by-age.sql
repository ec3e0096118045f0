-- Finds the merchants of the last minute: who registers may not look like one that another node made a moment ago.

create index merchants_by_age on merchants (created_at);
