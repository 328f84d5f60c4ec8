-- The network's statistics. avgGasPrice: wei, over the newest 100 blocks, rounded down.
-- params: none
-- plan depends on: nothing
-- returns: one row, the body as JSON text
-- index: blocks_pkey
WITH newest AS (
    SELECT number, transactions_before, transaction_count, gas_price_sum
    FROM blocks
    ORDER BY number DESC
    LIMIT 100
)
SELECT json_build_object(
    'latestBlock', coalesce(max(number), 0),
    'totalTransactions', coalesce(max(transactions_before + transaction_count), 0),
    'totalTokens', coalesce((SELECT token_count FROM chain), 0),
    'avgGasPrice', coalesce(div(sum(gas_price_sum), nullif(sum(transaction_count), 0)), 0)::text)::text
FROM newest;
