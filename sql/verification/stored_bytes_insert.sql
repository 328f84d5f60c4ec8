-- Counts the bytes that a verification has stored, and removes counts that no limit depends on any more.
-- params: now timestamptz, client text null, bytes bigint
-- returns: nothing
-- index: stored_verifications_pkey
WITH swept AS (
    DELETE FROM stored_verifications WHERE hour <= %(now)s::timestamptz - interval '24 hours'
)
INSERT INTO stored_verifications AS s (hour, client, bytes)
VALUES (date_trunc('hour', %(now)s::timestamptz), coalesce(%(client)s, ''), %(bytes)s)
ON CONFLICT (hour, client) DO UPDATE
SET bytes = s.bytes + excluded.bytes;
