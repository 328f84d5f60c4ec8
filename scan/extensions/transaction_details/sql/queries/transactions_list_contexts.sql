-- Values of transactions that their lists, and lists of transfers and internal transfers, show beside the
-- records.
-- params: hashes bytea[]
-- literals: none
-- returns: one row: index version, JSON text {hash: {transactionIndex, blockHash, methodId, fromAddress,
--   toAddress, fee, baseFeePerGas, burntFee, tip, blobGasUsed, blobGasPrice, blobFee, hasTokenTransfers}} of those
--   that are indexed; what is of blobs is null without them
-- index: transactions_by_hash, blocks_pkey, token_transfers_pkey
WITH sent AS (
    SELECT t, b
    FROM unnest(%(hashes)s::bytea[]) AS s (hash)
    JOIN transactions t ON t.hash = s.hash
    JOIN blocks b ON b.number = t.block_number
), moved AS (
    SELECT DISTINCT x.block_number, x.transaction_index
    FROM (
        SELECT DISTINCT (b).token_transfers_before AS first_transfer, (b).token_transfer_count AS transfer_count
        FROM sent
    ) AS r
    JOIN token_transfers x
        ON x.ordinal >= r.first_transfer AND x.ordinal < r.first_transfer + r.transfer_count
)
SELECT index_version(), coalesce(json_object_agg(hex((s.t).hash), json_build_object(
    'transactionIndex', (s.t).transaction_index,
    'blockHash', hex((s.b).hash),
    'methodId', hex(method_id(s.t)),
    'fromAddress', hex((s.t).from_address),
    'toAddress', hex((s.t).to_address),
    'fee', (s.t).fee::text,
    'baseFeePerGas', (s.b).base_fee_per_gas::text,
    'burntFee', ((s.b).base_fee_per_gas * (s.t).gas_used)::text,
    'tip', (((s.t).gas_price - (s.b).base_fee_per_gas) * (s.t).gas_used)::text,
    'blobGasUsed', (131072 * cardinality((s.t).blob_versioned_hashes))::text,
    'blobGasPrice', integer_text((s.t).blob_gas_price),
    'blobFee', (131072 * cardinality((s.t).blob_versioned_hashes)
        * integer_text((s.t).blob_gas_price)::numeric)::text,
    'hasTokenTransfers', m.block_number IS NOT NULL)), '{}')::text
FROM sent s
LEFT JOIN moved m ON m.block_number = (s.b).number AND m.transaction_index = (s.t).transaction_index;
