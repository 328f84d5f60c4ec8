-- Counts the bytes that a verification has stored.
-- params: now timestamptz, client text null, bytes bigint
-- returns: nothing
-- index: stored_verifications_pkey
INSERT INTO stored_verifications AS s (hour, client, bytes)
VALUES (date_trunc('hour', %(now)s::timestamptz), coalesce(%(client)s, ''), %(bytes)s)
ON CONFLICT (hour, client) DO UPDATE
SET bytes = s.bytes + excluded.bytes;
