-- Ends the filling of traces: balances of addresses that were seen after they were read are read again, and
-- what was being derived from blocks without traces is derived anew.
-- params: none
-- returns: nothing
-- index: addresses_pkey, table_rebuilds_pkey, trace_backfill_pkey
WITH seen AS (
    UPDATE addresses a
    SET balance_stale = true
    FROM (
        SELECT from_address AS address FROM new_internal_transfers
        UNION
        SELECT to_address FROM new_internal_transfers
    ) AS s
    WHERE a.address = s.address AND a.balance_block < a.last_seen
), rebuilds AS (
    UPDATE table_rebuilds SET last_hash = NULL
)
DELETE FROM trace_backfill;
