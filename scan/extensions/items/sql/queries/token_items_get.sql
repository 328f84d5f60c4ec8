-- One item of a token, with its 100 largest owners where it has amounts.
-- params: address bytea, token_id numeric
-- literals: none
-- returns: one row: index version, type (null where there is no such token), the item's record (null
--   where it was never moved) and its owners as JSON text
-- index: tokens_pkey, token_transfers_by_item, token_items_pkey, item_balances_by_item
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
    (SELECT (
            SELECT json_list(string_agg(token_holder_record(o.holder, o.balance)::text, ','))
            FROM (
                SELECT b.holder, b.balance
                FROM item_balances b
                WHERE b.first_ordinal = (i).first_ordinal AND b.balance > 0
                ORDER BY b.balance DESC, b.holder DESC
                LIMIT 100
            ) AS o)
    FROM item);
