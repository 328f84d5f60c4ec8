-- Recent costs of gas: the newest blocks, the percentiles of the tips in them, and the gas that common
-- actions took. Tips are of at most 5,000 transactions of these blocks, transfers of as many newest ones,
-- swaps and mints of the newest 200 each.
-- params: blocks integer
-- literals: none
-- returns: one row: index version, JSON text {"blocks": [{number, timestamp, baseFeePerGas, gasUsed,
--   gasLimit}], newest first, "tips": the 10th, 50th and 90th percentile in wei or null, "transactions":
--   how many these are of, "gas": {action: median or null}}
-- index: blocks_pkey, transactions_pkey, dex_trades_pkey, token_transfers_by_from
WITH newest AS MATERIALIZED (
    SELECT b.number, b.timestamp, b.base_fee_per_gas, b.gas_used, b.gas_limit,
        b.transactions_before AS first, b.transactions_before + b.transaction_count AS last
    FROM blocks b
    ORDER BY b.number DESC
    LIMIT %(blocks)s
), sample AS MATERIALIZED (
    SELECT t.ordinal, t.block_number, t.status, t.method, t.value, t.to_address, t.gas_price,
        t.gas_used
    FROM transactions t
    ORDER BY t.ordinal DESC
    LIMIT 5000
), tips AS (
    SELECT count(*) AS transactions, percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (
        ORDER BY greatest(s.gas_price - coalesce(n.base_fee_per_gas, 0), 0)) AS percentiles
    FROM sample s
    JOIN newest n ON n.number = s.block_number
)
SELECT index_version(), json_build_object(
    'blocks', (
        SELECT coalesce(json_agg(json_build_object('number', n.number, 'timestamp', iso(n.timestamp),
            'baseFeePerGas', n.base_fee_per_gas::text, 'gasUsed', n.gas_used::text,
            'gasLimit', n.gas_limit::text) ORDER BY n.number DESC), '[]')
        FROM newest n),
    'transactions', tips.transactions,
    'tips', tips.percentiles::text[],
    'gas', json_build_object(
        'transfer', (
            SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY s.gas_used)::text
            FROM sample s
            WHERE s.status AND s.method IS NULL AND s.to_address IS NOT NULL AND s.value > 0),
        'tokenTransfer', (
            SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY s.gas_used)::text
            FROM sample s
            WHERE s.status AND s.method = '\xa9059cbb'),
        'swap', (
            SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY t.gas_used)::text
            FROM (
                SELECT DISTINCT d.block_number, d.transaction_index
                FROM (SELECT x.block_number, x.transaction_index FROM dex_trades x
                    ORDER BY x.ordinal DESC LIMIT 200) AS d
            ) AS d
            JOIN blocks b ON b.number = d.block_number
            JOIN transactions t ON t.ordinal = b.transactions_before + d.transaction_index),
        'mint', (
            SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY t.gas_used)::text
            FROM (
                SELECT DISTINCT m.block_number, m.transaction_index
                FROM (SELECT x.block_number, x.transaction_index, x.token_id FROM token_transfers x
                    WHERE x.from_address = '\x0000000000000000000000000000000000000000'
                    ORDER BY x.ordinal DESC LIMIT 200) AS m
                WHERE m.token_id IS NOT NULL
            ) AS m
            JOIN blocks b ON b.number = m.block_number
            JOIN transactions t ON t.ordinal = b.transactions_before + m.transaction_index)))::text
FROM tips;
