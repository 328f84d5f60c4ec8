-- Notes that logs of followed contracts are written; those until now are filled anew where they were not, as the
-- extension was off.
-- params: none
-- returns: nothing
-- index: filled_tables_pkey, blocks_pkey, followed_children_by_contract
WITH begun AS (
    INSERT INTO filled_tables (name) VALUES ('contract_events') ON CONFLICT (name) DO NOTHING RETURNING name
), removed AS (
    DELETE FROM contract_events WHERE EXISTS (SELECT FROM begun)
), others AS (
    -- Those that removed logs named (SCAN_KEEP_DAYS) would not be found again; no fork is as old.
    DELETE FROM followed_children
    WHERE EXISTS (SELECT FROM begun) AND block_number >= coalesce((SELECT r.first_block FROM retention r), 0)
)
UPDATE followed_contracts SET complete_from = CASE WHEN factory IS NULL
    THEN coalesce((SELECT max(b.number) + 1 FROM blocks b), 0) ELSE 9223372036854775807 END
WHERE EXISTS (SELECT FROM begun);
