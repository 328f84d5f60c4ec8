-- Stores up to which block contracts are inspected, in the transaction that writes the findings.
-- params: block_number bigint
-- returns: nothing
-- index: bulk_backfill_pkey
UPDATE bulk_backfill SET inspected_to = %(block_number)s;
