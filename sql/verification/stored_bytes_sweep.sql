-- Removes counts that bound nothing any more.
-- params: stored_before timestamptz
-- returns: nothing
-- index: stored_verifications_pkey
DELETE FROM stored_verifications
WHERE hour <= %(stored_before)s;
