-- Tells whether all of these transactions are in these blocks of the indexed chain.
-- params: blocks bigint[], block_hashes bytea[], transaction_indexes integer[],
--   transaction_hashes bytea[]
-- literals: none
-- returns: one row: index version, boolean
-- index: blocks_pkey, transactions_pkey
SELECT index_version(), NOT EXISTS (
    SELECT
    FROM unnest(%(blocks)s::bigint[], %(block_hashes)s::bytea[],
        %(transaction_indexes)s::integer[], %(transaction_hashes)s::bytea[])
        AS requested (block_number, block_hash, transaction_index, transaction_hash)
    WHERE NOT EXISTS (
        SELECT
        FROM blocks b
        JOIN transactions t ON t.ordinal = b.transactions_before + requested.transaction_index
            AND t.block_number = b.number
        WHERE b.number = requested.block_number AND b.hash = requested.block_hash
            AND t.hash = requested.transaction_hash));
