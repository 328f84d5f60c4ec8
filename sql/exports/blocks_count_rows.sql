-- How many rows of each kind the blocks of a range have.
-- params: block_from bigint, block_to bigint
-- returns: number, hash, parent hash; numbers of transactions, internal transfers, withdrawals, token
--   transfers, trades, stored logs, credits
-- index: blocks_pkey, credits_pkey
SELECT b.number, b.hash, b.parent_hash, b.transaction_count, b.internal_transfer_count,
    coalesce(b.withdrawal_count, 0), b.token_transfer_count, b.dex_trade_count, b.log_count,
    (SELECT count(*) FROM credits c
        WHERE c.ordinal BETWEEN credit_ordinal(b.number) AND credit_ordinal(b.number) + 1048575)
FROM blocks b
WHERE b.number BETWEEN %(block_from)s AND %(block_to)s
ORDER BY b.number;
