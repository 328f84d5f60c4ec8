-- Keeps the rows of fetched_blocks whose hashes are indexed, and gives their transactions in
-- fetched_transactions the ordinals of the index.
-- params: none
-- returns: rows: number of a fetched block that differs from the indexed one
-- index: blocks_pkey
WITH numbered AS (
    UPDATE fetched_transactions t
    SET ordinal = b.transactions_before + t.transaction_index
    FROM fetched_blocks f
    JOIN blocks b ON b.number = f.number AND b.hash = f.hash
    WHERE t.block_number = f.number
)
DELETE FROM fetched_blocks f
WHERE NOT EXISTS (SELECT FROM blocks b WHERE b.number = f.number AND b.hash = f.hash)
RETURNING f.number;
