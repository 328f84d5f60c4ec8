-- The network's statistics. avgGasPrice: wei, over the newest 100 blocks, rounded down.
-- params: version text, chain_name text null
-- literals: none
-- returns: one row: index version, the body as JSON text
-- index: blocks_pkey, chain_pkey
SELECT index_version(), row_to_json(body)::text
FROM (
    SELECT coalesce(max(newest.number), 0) AS "latestBlock",
        coalesce(max(newest.transactions_before + newest.transaction_count), 0)
            AS "totalTransactions",
        coalesce((SELECT token_count FROM chain), 0) AS "totalTokens",
        coalesce(div(sum(newest.gas_price_sum), nullif(sum(newest.transaction_count), 0)), 0)::text
            AS "avgGasPrice",
        (SELECT start_block FROM chain) AS "firstBlock",
        (SELECT chain_id FROM chain) AS "chainId",
        %(version)s AS "version",
        %(chain_name)s AS "chainName"
    FROM (
        SELECT b.number, b.transactions_before, b.transaction_count, b.gas_price_sum
        FROM blocks b
        ORDER BY b.number DESC
        LIMIT 100
    ) AS newest
) AS body;
