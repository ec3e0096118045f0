-- The URL of a webhook endpoint that last answered with success: before it does, attempts are few.

alter table webhook_queues add column answered_url text;
