-- Opens a cursor at the holders of a token after a block, the largest balance first: the sums of its transfers from
-- the ordinal `first` to before `past`, with a sign; where that is -1, added to the present balances. With
-- `has_ids` a holder has a row for each id, in ascending order. Ordinals are compared in rows alone, which the index
-- by token serves: else the planner may read those of all tokens in between.
-- params: address bytea, block_number bigint, first bigint, past bigint, sign integer, has_one_life boolean,
--   counts_ids boolean, has_ids boolean, after bigint, skipped bigint
-- returns: nothing; rows of the cursor, one at least: number of all rows, of all holders, whether no sum is below zero;
--   and of each row with a number above `after` of a holder after those that are skipped: its number, the holder, its
--   balance, the id, its amount, as text (null: there is none)
-- index: token_transfers_by_token, token_holders_by_balance, token_items_pkey, item_balances_by_item, token_transfers_pkey, removed_items_by_first_ordinal, tokens_pkey
DECLARE past_holders NO SCROLL CURSOR FOR
WITH held AS MATERIALIZED (
    SELECT n.holder, n.token_id, n.amount,
        CASE WHEN %(has_ids)s THEN sum(n.amount) OVER (PARTITION BY n.holder) ELSE n.amount END AS balance
    FROM (
        SELECT m.holder, m.token_id, sum(m.amount) AS amount
        FROM (
            SELECT m.holder, CASE WHEN %(has_ids)s THEN x.token_id END, m.amount
            FROM (
                SELECT x.from_address, x.to_address, x.value * %(sign)s AS value, x.token_id
                FROM token_transfers x
                WHERE (x.token_address, x.ordinal) >= (%(address)s, %(first)s)
                    AND (x.token_address, x.ordinal) < (%(address)s, %(past)s)
                    AND (%(has_one_life)s OR is_of_life_at(x.token_address, x.block_number, %(block_number)s))
                    AND (%(counts_ids)s OR x.token_id IS NULL)
                OFFSET 0
            ) AS x
            CROSS JOIN LATERAL (VALUES (x.to_address, x.value), (x.from_address, -x.value)) AS m (holder, amount)
            WHERE m.holder <> zero_address()
            UNION ALL
            SELECT h.holder, NULL, h.balance
            FROM token_holders h
            WHERE h.token_address = %(address)s AND %(sign)s < 0 AND NOT %(has_ids)s
            UNION ALL
            SELECT o.holder, token_id_of(i.first_ordinal), o.amount
            FROM token_items i
            CROSS JOIN LATERAL (
                SELECT i.owner, 1 WHERE i.owner IS NOT NULL
                UNION ALL
                SELECT b.holder, b.balance FROM item_balances b WHERE b.first_ordinal = i.first_ordinal
            ) AS o (holder, amount)
            WHERE i.token_address = %(address)s AND %(sign)s < 0 AND %(has_ids)s
        ) AS m (holder, token_id, amount)
        GROUP BY m.holder, m.token_id
        HAVING sum(m.amount) <> 0
    ) AS n
), counted AS MATERIALIZED (
    SELECT count(*) AS rows, CASE WHEN %(has_ids)s THEN count(DISTINCT h.holder) ELSE count(*) END AS holders,
        coalesce(min(h.amount) > 0, true) AS is_known
    FROM held h
)
SELECT c.rows, c.holders, c.is_known, r.number, hex(r.holder), r.balance::text, r.token_id::text, r.amount::text
FROM counted c
LEFT JOIN (
    SELECT h.*, row_number() OVER (ORDER BY h.balance DESC, h.holder DESC, h.token_id ASC) AS number,
        dense_rank() OVER (ORDER BY h.balance DESC, h.holder DESC) AS place
    FROM held h
) AS r ON r.number > %(after)s AND r.place > %(skipped)s
ORDER BY r.number;
