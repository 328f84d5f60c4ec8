-- The largest transfers of a token, of its newest 2,000: no index has them by value.
-- params: token bytea, limit integer
-- literals: none
-- returns: one row: index version, data (JSON text), largest first, how many were looked through, the
--   block of the oldest of them or null
-- index: token_transfers_by_token, token_transfers_pkey, transactions_pkey, blocks_pkey, tokens_pkey
WITH newest AS MATERIALIZED (
    SELECT x.ordinal, x.block_number, x.value
    FROM token_transfers x
    WHERE x.token_address = %(token)s
    ORDER BY x.ordinal DESC
    LIMIT 2000
), largest AS MATERIALIZED (
    SELECT n.ordinal, n.value
    FROM newest n
    WHERE n.value > 0
    ORDER BY n.value DESC, n.ordinal DESC
    LIMIT %(limit)s
)
SELECT index_version(), json_list((
        SELECT string_agg(token_transfer_record(x, t.hash, k, b.timestamp)::text, ','
            ORDER BY l.value DESC, l.ordinal DESC)
        FROM largest l
        JOIN token_transfers x ON x.ordinal = l.ordinal
        JOIN blocks b ON b.number = x.block_number
        JOIN transactions t ON t.ordinal = b.transactions_before + x.transaction_index
        JOIN tokens k ON k.address = x.token_address)),
    (SELECT count(*) FROM newest), (SELECT min(n.block_number) FROM newest n);
