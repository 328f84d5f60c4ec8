-- Ends the filling of traces: balances of addresses that were seen after they were read are read again.
-- params: none
-- returns: nothing
-- index: addresses_pkey, trace_backfill_pkey
WITH seen AS (
    UPDATE addresses a
    SET balance_stale = true
    FROM (
        SELECT from_address AS address FROM new_internal_transfers
        UNION
        SELECT to_address FROM new_internal_transfers
    ) AS s
    WHERE a.address = s.address AND a.balance_block < a.last_seen
)
DELETE FROM trace_backfill;
