-- The items that an address owns, of BEP721 and BEP1155, those first moved last first. Pages of the second
-- half are read from the other end, so that the last costs as much as the first.
-- params: address bytea, limit integer, offset bigint, after bigint null
-- literals: limit
-- returns: one row: index version, data (JSON text), count in data, total; for cursors: first
--   ordinal of the last row where more follow
-- index: addresses_pkey, token_items_by_owner, item_balances_pkey, token_transfers_pkey, tokens_pkey
WITH span AS (
    SELECT total, %(offset)s > total / 2 AS is_from_end, size,
        greatest(total - %(offset)s::numeric - size, 0)::bigint AS pass
    FROM (
        SELECT total, least(%(limit)s, greatest(total - %(offset)s::numeric, 0))::bigint AS size
        FROM (
            SELECT coalesce(a.item_count, 0) AS total
            FROM addresses a
            WHERE a.address = %(address)s
        ) AS counted
    ) AS sized
), page AS (
    SELECT first_ordinal, balance
    FROM (
        (
            SELECT first_ordinal, balance
            FROM (
                (
                    SELECT i.first_ordinal, 1::numeric AS balance
                    FROM token_items i
                    WHERE i.owner = %(address)s AND %(after)s IS NULL
                        AND NOT (SELECT is_from_end FROM span)
                    ORDER BY i.first_ordinal DESC
                    LIMIT least(%(offset)s, 9000000000000000000) + %(limit)s
                )
                UNION ALL
                (
                    SELECT b.first_ordinal, b.balance
                    FROM item_balances b
                    WHERE b.holder = %(address)s AND b.balance > 0
                        AND %(after)s IS NULL AND NOT (SELECT is_from_end FROM span)
                    ORDER BY b.first_ordinal DESC
                    LIMIT least(%(offset)s, 9000000000000000000) + %(limit)s
                )
            ) AS owned
            ORDER BY first_ordinal DESC
            LIMIT %(limit)s
            OFFSET %(offset)s
        )
        UNION ALL
        (
            SELECT first_ordinal, balance
            FROM (
                (
                    SELECT i.first_ordinal, 1::numeric AS balance
                    FROM token_items i
                    WHERE i.owner = %(address)s AND %(after)s IS NULL
                        AND (SELECT is_from_end FROM span)
                    ORDER BY i.first_ordinal ASC
                    LIMIT (SELECT pass + size FROM span)
                )
                UNION ALL
                (
                    SELECT b.first_ordinal, b.balance
                    FROM item_balances b
                    WHERE b.holder = %(address)s AND b.balance > 0
                        AND %(after)s IS NULL AND (SELECT is_from_end FROM span)
                    ORDER BY b.first_ordinal ASC
                    LIMIT (SELECT pass + size FROM span)
                )
            ) AS owned
            ORDER BY first_ordinal ASC
            LIMIT (SELECT size FROM span)
            OFFSET (SELECT pass FROM span)
        )
        UNION ALL
        (
            SELECT i.first_ordinal, 1::numeric AS balance
            FROM token_items i
            WHERE i.owner = %(address)s AND i.first_ordinal < %(after)s
            ORDER BY i.first_ordinal DESC
            LIMIT %(limit)s
        )
        UNION ALL
        (
            SELECT b.first_ordinal, b.balance
            FROM item_balances b
            WHERE b.holder = %(address)s AND b.balance > 0 AND b.first_ordinal < %(after)s
            ORDER BY b.first_ordinal DESC
            LIMIT %(limit)s
        )
    ) AS matches
    ORDER BY first_ordinal DESC
    LIMIT %(limit)s
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT item_balance_record(k, x.token_id, page.balance)::text
        FROM (
            SELECT x.token_address, x.token_id
            FROM token_transfers x
            WHERE x.ordinal = page.first_ordinal
            UNION -- and not UNION ALL: a transfer that is to be removed is in both
            SELECT r.token_address, r.token_id
            FROM removed_items r
            WHERE r.first_ordinal = page.first_ordinal
        ) AS x
        JOIN tokens k ON k.address = x.token_address), ',')),
    count(*),
    coalesce((SELECT total FROM span), 0),
    CASE WHEN EXISTS (
            SELECT FROM token_items i
            WHERE i.owner = %(address)s AND i.first_ordinal < min(page.first_ordinal))
        OR EXISTS (
            SELECT FROM item_balances b
            WHERE b.holder = %(address)s AND b.balance > 0
                AND b.first_ordinal < min(page.first_ordinal))
        THEN min(page.first_ordinal) END
FROM page;
