-- Fills transactions that lack their later columns from fetched_transactions, in blocks that are
-- still those that were fetched. What they paid for blobs was not known yet: their senders' sums
-- and their days get it.
-- params: numbers bigint[], hashes bytea[]
-- returns: how many were filled
-- index: blocks_pkey, transactions_pkey, addresses_pkey, daily_stats_first_block_key, daily_stats_pkey
WITH filled AS (
    UPDATE transactions t
    SET type = f.type,
        nonce = f.nonce,
        gas_limit = f.gas_limit,
        max_fee_per_gas = f.max_fee_per_gas,
        max_priority_fee_per_gas = f.max_priority_fee_per_gas,
        max_fee_per_blob_gas = f.max_fee_per_blob_gas,
        cumulative_gas_used = f.cumulative_gas_used,
        method = f.method,
        blob_versioned_hashes = f.blob_versioned_hashes,
        blob_gas_price = f.blob_gas_price
    FROM unnest(%(numbers)s::bigint[], %(hashes)s::bytea[]) AS fetched (number, hash)
    JOIN blocks b ON b.number = fetched.number AND b.hash = fetched.hash
    JOIN fetched_transactions f ON f.block_number = b.number
    WHERE t.ordinal = b.transactions_before + f.transaction_index
        AND t.hash = f.hash
        AND (t.type IS NULL
            OR (t.blob_versioned_hashes IS NOT NULL AND t.blob_gas_price IS NULL
                AND f.blob_gas_price IS NOT NULL))
    RETURNING t.block_number, t.from_address, transaction_fee(t) - t.gas_price * t.gas_used AS paid
), corrected AS (
    UPDATE addresses a
    SET net_wei = nullif(coalesce(a.net_wei, 0) - s.paid, 0)
    FROM (SELECT from_address, sum(paid) AS paid FROM filled WHERE paid > 0 GROUP BY from_address) AS s
    WHERE a.address = s.from_address
), spent AS (
    UPDATE daily_stats d
    SET fees_wei = d.fees_wei + s.paid,
        burnt_wei = d.burnt_wei + s.paid
    FROM (
        SELECT counted_day(block_number) AS day, sum(paid) AS paid
        FROM filled
        WHERE paid > 0
        GROUP BY 1
    ) AS s
    WHERE d.day = s.day
)
SELECT count(*) FROM filled;
