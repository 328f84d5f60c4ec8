-- One transaction by its hash.
-- params: hash bytea
-- plan depends on: nothing
-- returns: no row, or the record as JSON text
-- index: transactions_by_hash, blocks_pkey
SELECT transaction_record(t, (SELECT b.timestamp FROM blocks b WHERE b.number = t.block_number))::text
FROM transactions t
WHERE t.hash = %(hash)s;
