-- Values of transactions that their lists, and lists of transfers and internal transfers, show beside the
-- records.
-- params: hashes bytea[]
-- literals: none
-- returns: one row: index version, JSON text {hash: {blockNumber, transactionIndex, blockHash, methodId,
--   fromAddress, toAddress, fee, baseFeePerGas, burntFee, tip, blobGasUsed, blobGasPrice, blobFee}} of those that are indexed;
--   what is of blobs is null without them
-- index: transactions_by_hash, blocks_pkey
SELECT index_version(), coalesce(json_object_agg(hex((s.t).hash), json_build_object(
    'blockNumber', (s.t).block_number,
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
        * integer_text((s.t).blob_gas_price)::numeric)::text)), '{}')::text
FROM (
    SELECT t, b
    FROM unnest(%(hashes)s::bytea[]) AS h (hash)
    JOIN transactions t ON t.hash = h.hash
    JOIN blocks b ON b.number = t.block_number
) AS s;
