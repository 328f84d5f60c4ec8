-- Notes that a table is loaded, in the transaction that loads it.
-- params: table text
-- returns: nothing
-- index: bulk_backfill_pkey
UPDATE bulk_backfill SET loaded = loaded || %(table)s::text;
