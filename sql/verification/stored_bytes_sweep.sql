-- Removes counts that bound nothing any more.
-- params: stored_before timestamptz
-- returns: nothing
-- index: stored_verifications_by_time
DELETE FROM stored_verifications
WHERE stored_at <= %(stored_before)s;
