-- The block of a range from which on all logs of a followed contract are stored and decoded.
-- params: address bytea, block_from bigint, block_to bigint
-- literals: none
-- returns: one row: its number, the first block or less where all are, one beyond the last where none is; no row: it
--   is not followed
-- index: followed_contracts_pkey, undecoded_events_by_address
SELECT greatest(least(c.complete_from, %(block_to)s + 1), (
    SELECT (max(u.ordinal) >> 20) + 1
    FROM undecoded_events u
    WHERE u.address = c.address
        AND u.ordinal BETWEEN first_ordinal_in(%(block_from)s) AND last_ordinal_in(%(block_to)s)))
FROM followed_contracts c
WHERE c.address = %(address)s;
