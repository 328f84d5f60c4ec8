-- How many addresses were seen in a range of blocks, and how many of them for the first time.
-- params: block_from bigint, block_to bigint
-- returns: hash of the last block, addresses seen, new addresses
-- index: transactions_pkey, token_transfers_pkey, dex_trades_pkey, internal_transfers_pkey, blocks_pkey,
--   withdrawals_pkey, log_emitters_by_block, addresses_pkey
SELECT (SELECT b.hash FROM blocks b WHERE b.number = %(block_to)s), count(*),
    count(*) FILTER (WHERE a.first_seen >= %(block_from)s)
FROM addresses_seen(%(block_from)s, %(block_to)s) s
JOIN addresses a USING (address);
