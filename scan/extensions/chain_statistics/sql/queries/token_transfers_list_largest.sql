-- The largest transfers of a token in a range of blocks, among the newest `most` of them, since no index
-- has them by value. Their number is known by the list's checkpoints.
-- params: token bytea, block_from bigint, block_to bigint, limit integer, most integer
-- literals: none
-- returns: one row: index version, data (JSON text), largest first, how many were looked through, the
--   block of the oldest of them or null, how many transfers of the token the range has
-- index: tokens_pkey, blocks_pkey, list_checkpoints_pkey, token_transfers_by_token, token_transfers_pkey,
--   transactions_pkey
WITH bounds AS MATERIALIZED (
    SELECT o.first, o.last,
        entries_before('token_transfers_by_token', k.address, k.transfer_count,
                o.last + 1)
            - entries_before('token_transfers_by_token', k.address,
                k.transfer_count, o.first) AS entries
    FROM tokens k
    CROSS JOIN token_transfer_ordinals(%(block_from)s, %(block_to)s) AS o
    WHERE k.address = %(token)s AND o.first <= o.last
), newest AS MATERIALIZED (
    SELECT x.ordinal, x.block_number, x.value
    FROM bounds o
    CROSS JOIN LATERAL (
        SELECT x.ordinal, x.block_number, x.value
        FROM token_transfers x
        WHERE x.token_address = %(token)s AND x.ordinal >= o.first AND x.ordinal <= o.last
        ORDER BY x.ordinal DESC
        LIMIT %(most)s
    ) AS x
), largest AS MATERIALIZED (
    SELECT n.ordinal, n.value
    FROM newest n
    WHERE n.value > 0
    ORDER BY n.value DESC, n.ordinal DESC
    LIMIT %(limit)s
)
SELECT index_version(), json_list((
        SELECT string_agg(token_transfer_record(x, t, k, b.timestamp)::text, ','
            ORDER BY l.value DESC, l.ordinal DESC)
        FROM largest l
        JOIN token_transfers x ON x.ordinal = l.ordinal
        JOIN blocks b ON b.number = x.block_number
        JOIN transactions t ON t.ordinal = b.transactions_before + x.transaction_index
        JOIN tokens k ON k.address = x.token_address)),
    (SELECT count(*) FROM newest), (SELECT min(n.block_number) FROM newest n),
    coalesce((SELECT o.entries FROM bounds o), 0);
