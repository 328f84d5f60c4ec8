-- One item of a token, with its 100 largest owners and its newest 25 transfers.
-- params: address bytea, token_id numeric
-- literals: none
-- returns: one row: index version, type (null where there is no such token), the item's record, its
--   owners and its transfers as JSON text (null where it was never moved), head_number, head_hash
-- index: tokens_pkey, token_transfers_by_item, token_items_pkey, item_balances_by_item,
--   token_transfers_pkey, transactions_pkey, blocks_pkey
WITH token AS (
    SELECT moved_type(k, 0) AS type FROM tokens k WHERE k.address = %(address)s
), item AS (
    SELECT i
    FROM token_items i
    WHERE i.token_address = %(address)s AND i.first_ordinal
            = first_transfer_of(%(address)s, %(token_id)s)
)
SELECT index_version(),
    (SELECT type FROM token),
    (SELECT token_item_record(i, %(token_id)s, (SELECT type FROM token))::text FROM item),
    (SELECT CASE WHEN (i).owner IS NOT NULL
        THEN json_list(token_holder_record((i).owner, 1)::text)
        ELSE (
            SELECT json_list(string_agg(token_holder_record(o.holder, o.balance)::text, ','))
            FROM (
                SELECT b.holder, b.balance
                FROM item_balances b
                WHERE b.first_ordinal = (i).first_ordinal AND b.balance > 0
                ORDER BY b.balance DESC, b.holder DESC
                LIMIT 100
            ) AS o) END
    FROM item),
    (SELECT json_list(string_agg(token_transfer_record(x,
            (SELECT t FROM transactions t
                WHERE t.ordinal = b.transactions_before + x.transaction_index),
            k,
            b.timestamp)::text, ',' ORDER BY x.ordinal DESC))
    FROM (
        SELECT n.ordinal
        FROM token_transfers n
        WHERE n.token_address = %(address)s AND n.token_id = %(token_id)s
            AND n.ordinal >= (SELECT first_kept_ordinal('token_transfers'))
        ORDER BY n.ordinal DESC
        LIMIT 25
    ) AS newest
    JOIN token_transfers x ON x.ordinal = newest.ordinal
    JOIN blocks b ON b.number = x.block_number
    JOIN tokens k ON k.address = x.token_address),
    head.number,
    head.hash
FROM (SELECT 1) AS always
LEFT JOIN (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS head ON true;
