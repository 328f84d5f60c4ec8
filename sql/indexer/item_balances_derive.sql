-- Moves the balances of BEP1155 items by the transfers of blocks already written, and counts who owns
-- some; sign -1 takes the same back. Runs after token_items_derive, whose rows it counts owners in.
-- tokens are the BEP1155 among those of the transfers.
-- params: first_transfer bigint, last_transfer bigint, sign integer, tokens bytea[]
-- returns: nothing
-- index: token_transfers_pkey, token_transfers_by_item, item_balances_pkey, token_items_pkey,
--   addresses_pkey
WITH deltas AS MATERIALIZED (
    SELECT p.holder, x.token_address, x.token_id, sum(p.amount) * %(sign)s AS amount
    FROM token_transfers x
    CROSS JOIN LATERAL (VALUES (x.from_address, -x.value), (x.to_address, x.value))
        AS p (holder, amount)
    WHERE x.ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s AND x.token_id IS NOT NULL
        AND x.token_address = ANY(%(tokens)s::bytea[])
        AND p.holder <> '\x0000000000000000000000000000000000000000'::bytea
    GROUP BY p.holder, x.token_address, x.token_id
    HAVING sum(p.amount) <> 0
), found AS MATERIALIZED (
    SELECT d.holder, d.token_address, d.amount,
        (SELECT min(x.ordinal) FROM token_transfers x
            WHERE x.token_address = d.token_address AND x.token_id = d.token_id) AS first_ordinal
    FROM deltas d
), balances AS MATERIALIZED (
    SELECT f.holder, f.token_address, f.first_ordinal, coalesce(b.balance, 0) AS before,
        coalesce(b.balance, 0) + f.amount AS after
    FROM found f
    LEFT JOIN LATERAL (
        SELECT s.balance
        FROM item_balances s
        WHERE s.holder = f.holder AND s.first_ordinal = f.first_ordinal
        LIMIT 1
    ) AS b ON true
), ended AS (
    DELETE FROM item_balances s
    USING balances b
    WHERE b.after = 0 AND s.holder = b.holder AND s.first_ordinal = b.first_ordinal
), written AS (
    INSERT INTO item_balances (holder, first_ordinal, balance)
    SELECT holder, first_ordinal, after
    FROM balances
    WHERE after <> 0
    ON CONFLICT (holder, first_ordinal) DO UPDATE SET balance = EXCLUDED.balance
), counted AS (
    UPDATE token_items i
    SET owner_count = i.owner_count + d.owners
    FROM (
        SELECT token_address, first_ordinal,
            sum((after > 0)::integer - (before > 0)::integer) AS owners
        FROM balances
        GROUP BY token_address, first_ordinal
    ) AS d
    WHERE d.owners <> 0 AND i.token_address = d.token_address
        AND i.first_ordinal = d.first_ordinal
)
UPDATE addresses a
SET item_count = nullif(coalesce(a.item_count, 0) + d.items, 0)
FROM (
    SELECT holder, sum((after > 0)::integer - (before > 0)::integer) AS items
    FROM balances
    GROUP BY holder
) AS d
WHERE d.items <> 0 AND a.address = d.holder;
