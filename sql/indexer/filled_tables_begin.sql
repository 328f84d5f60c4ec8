-- Notes that these tables of blocks' rows have those of all blocks from the next one on, unless they are noted.
-- params: tables text[]
-- returns: name and first block of those that lack rows of indexed blocks
-- index: filled_tables_pkey, blocks_pkey
WITH begun AS (
    INSERT INTO filled_tables (name, first_block)
    SELECT t.name, coalesce((SELECT max(b.number) + 1 FROM blocks b), 0)
    FROM unnest(%(tables)s::text[]) AS t (name)
    ON CONFLICT (name) DO NOTHING
    RETURNING name, first_block
)
SELECT b.name, b.first_block FROM begun b WHERE b.first_block > 0 ORDER BY b.name;
