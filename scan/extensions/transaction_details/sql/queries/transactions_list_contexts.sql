-- Values of transactions that their lists, and lists of transfers and internal transfers, show beside the
-- records.
-- params: hashes bytea[]
-- literals: none
-- returns: one row: index version, JSON text {hash: {transactionIndex, blockHash, methodId, fromAddress,
--   toAddress, fee, baseFeePerGas, burntFee, tip, hasTokenTransfers}} of those that are indexed
-- index: transactions_by_hash, blocks_pkey, token_transfers_pkey
SELECT index_version(), coalesce(json_object_agg(hex(t.hash), json_build_object(
    'transactionIndex', t.transaction_index,
    'blockHash', hex(b.hash),
    'methodId', hex(method_id(t)),
    'fromAddress', hex(t.from_address),
    'toAddress', hex(t.to_address),
    'fee', t.fee::text,
    'baseFeePerGas', b.base_fee_per_gas::text,
    'burntFee', (b.base_fee_per_gas * t.gas_used)::text,
    'tip', ((t.gas_price - b.base_fee_per_gas) * t.gas_used)::text,
    'hasTokenTransfers', EXISTS (
        SELECT FROM token_transfers x
        WHERE x.ordinal >= b.token_transfers_before
            AND x.ordinal < b.token_transfers_before + b.token_transfer_count
            AND x.transaction_index = t.transaction_index))), '{}')::text
FROM unnest(%(hashes)s::bytea[]) AS sent (hash)
JOIN transactions t ON t.hash = sent.hash
JOIN blocks b ON b.number = t.block_number;
