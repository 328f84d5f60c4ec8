-- Columns of blocks to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: number; hash, parent hash, timestamp in seconds, miner, gas used, gas limit,
--   base fee
-- index: blocks_pkey
SELECT number, hash, parent_hash, extract(epoch FROM timestamp)::bigint, miner, gas_used, gas_limit,
    base_fee_per_gas
FROM blocks
WHERE number BETWEEN %(block_from)s AND %(block_to)s;
