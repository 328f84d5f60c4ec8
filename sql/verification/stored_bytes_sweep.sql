-- Removes counts that no limit depends on any more.
-- params: stored_before timestamptz
-- returns: nothing
-- index: stored_verifications_pkey
DELETE FROM stored_verifications
WHERE hour <= %(stored_before)s;
