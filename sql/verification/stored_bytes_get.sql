-- The numbers of bytes that verifications have stored since a time, in all and for a client, by whole
-- hours.
-- params: since timestamptz, client text null
-- returns: one row: bytes in all, bytes of the client
-- index: stored_verifications_pkey
SELECT coalesce(sum(s.bytes), 0)::bigint,
    coalesce(sum(s.bytes) FILTER (WHERE s.client = %(client)s), 0)::bigint
FROM stored_verifications s
WHERE s.hour > %(since)s;
