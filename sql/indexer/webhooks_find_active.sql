-- Tells whether there is any active webhook. While there is none, indexing runs no other statement for
-- webhooks.
-- params: none
-- literals: none
-- returns: boolean
-- index: webhooks_by_watch_address
SELECT EXISTS (SELECT FROM webhooks WHERE active);
