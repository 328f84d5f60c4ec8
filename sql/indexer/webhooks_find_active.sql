-- Whether anybody is to be told anything: while nobody is, indexing pays for this alone.
-- params: none
-- returns: boolean
-- index: webhooks_by_watch_address
SELECT EXISTS (SELECT FROM webhooks WHERE active);
