-- Blocks of a range, in the chain's order.
-- params: block_from bigint, block_to bigint
-- returns: the columns of its kind in scan/exports/columns.py; numeric as text
-- index: blocks_pkey
SELECT b.number, extract(epoch FROM b.timestamp)::bigint, b.hash, b.parent_hash, b.miner,
    b.gas_used::text, b.gas_limit::text, b.gas_price_sum::text, b.base_fee_per_gas::text,
    b.withdrawal_count, b.traced, b.size, b.transaction_count, b.internal_transfer_count,
    b.log_count, b.token_transfer_count, b.dex_trade_count
FROM blocks b
WHERE b.number BETWEEN %(block_from)s AND %(block_to)s
ORDER BY b.number;
