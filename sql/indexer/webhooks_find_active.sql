-- Whether there is any active webhook: while there is none, indexing pays for this alone.
-- params: none
-- returns: boolean
-- index: webhooks_by_watch_address
SELECT EXISTS (SELECT FROM webhooks WHERE active);
