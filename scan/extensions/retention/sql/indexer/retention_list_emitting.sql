-- The blocks of a range in which kept addresses emitted logs, where these have no rows of their own.
-- params: span block_range
-- returns: number, transactions, emitters
-- index: kept_addresses_pkey, log_emitters_by_block, blocks_pkey
SELECT b.number, b.transaction_count, array_agg(e.address)
FROM log_emitters e
JOIN kept_addresses k ON k.address = e.address
JOIN blocks b ON b.number = e.block_number
WHERE e.block_number BETWEEN (%(span)s::block_range).first_block AND (%(span)s::block_range).last_block
    AND (SELECT c.stored_logs FROM chain c) <> 'all'
GROUP BY b.number;
