-- Lets one transaction at a time add or confirm subscriptions to e-mail, so that they are counted exactly.
-- params: none
-- returns: one row without a value
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('mail subscriptions', 0));
