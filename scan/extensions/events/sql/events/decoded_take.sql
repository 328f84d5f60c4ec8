-- Takes logs, as they were read, from those to be decoded, and what was decoded of them before.
-- params: ordinals bigint[], queued_by text[]
-- returns: ordinals of those that were there as they were read
-- index: undecoded_events_pkey, decoded_events_pkey
WITH taken AS (
    DELETE FROM undecoded_events u
    USING unnest(%(ordinals)s::bigint[], %(queued_by)s::text[]) AS n (ordinal, queued_by)
    WHERE u.ordinal = n.ordinal AND u.queued_by = n.queued_by::xid8
    RETURNING u.ordinal
), replaced AS (
    DELETE FROM decoded_events e USING taken t WHERE e.ordinal = t.ordinal
)
SELECT ordinal FROM taken;
