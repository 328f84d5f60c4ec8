-- A day that was not counted, where its last block is still the one whose addresses were counted.
-- params: block_from bigint, block_to bigint, hash bytea, active bigint, new bigint
-- returns: the day; no row where nothing was written
-- index: blocks_pkey, transactions_pkey, internal_transfers_pkey, daily_stats_pkey
INSERT INTO daily_stats (day, first_block, last_block, last_hash, transaction_count,
    failed_transaction_count, active_address_count, new_address_count, created_contract_count,
    token_transfer_count, dex_trade_count, gas_used, fees_wei, burnt_wei)
SELECT day_of(b.timestamp), %(block_from)s, b.number, b.hash, t.transaction_count,
    t.failed_transaction_count, %(active)s, %(new)s, t.created_contract_count,
    t.token_transfer_count, t.dex_trade_count, t.gas_used, t.fees_wei, t.burnt_wei
FROM blocks b
CROSS JOIN block_totals(%(block_from)s, %(block_to)s) AS t
WHERE b.number = %(block_to)s AND b.hash = %(hash)s
ON CONFLICT DO NOTHING
RETURNING day::text;
