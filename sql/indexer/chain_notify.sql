-- Counts a change to the index, and announces it to those who cache responses. A version contains the time,
-- so that none comes twice, even where a standby that lacks the last ones takes over.
-- params: none
-- literals: none
-- returns: one row without a value
-- index: chain_pkey
UPDATE chain
SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
RETURNING pg_notify('scan_chain', 'chain ' || version);
