-- The items an address has, of BEP721 and BEP1155, by token address, those first moved first before
-- the others. Pages of the second half are read from the other end, so that the last costs what the
-- first does.
-- params: address bytea, limit integer, offset bigint
-- returns: one row: index version, data (JSON text; null where the address has not been seen),
--   count in data, total
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
    SELECT token_address, first_ordinal, balance
    FROM (
        (
            SELECT token_address, first_ordinal, balance
            FROM (
                (
                    SELECT i.token_address, i.first_ordinal, 1::numeric AS balance
                    FROM token_items i
                    WHERE i.owner = %(address)s AND NOT (SELECT is_from_end FROM span)
                    ORDER BY i.token_address ASC, i.first_ordinal ASC
                    LIMIT least(%(offset)s, 9000000000000000000) + %(limit)s
                )
                UNION ALL
                (
                    SELECT b.token_address, b.first_ordinal, b.balance
                    FROM item_balances b
                    WHERE b.holder = %(address)s AND b.balance > 0
                        AND NOT (SELECT is_from_end FROM span)
                    ORDER BY b.token_address ASC, b.first_ordinal ASC
                    LIMIT least(%(offset)s, 9000000000000000000) + %(limit)s
                )
            ) AS owned
            ORDER BY token_address ASC, first_ordinal ASC
            LIMIT %(limit)s
            OFFSET %(offset)s
        )
        UNION ALL
        (
            SELECT token_address, first_ordinal, balance
            FROM (
                (
                    SELECT i.token_address, i.first_ordinal, 1::numeric AS balance
                    FROM token_items i
                    WHERE i.owner = %(address)s AND (SELECT is_from_end FROM span)
                    ORDER BY i.token_address DESC, i.first_ordinal DESC
                    LIMIT (SELECT pass + size FROM span)
                )
                UNION ALL
                (
                    SELECT b.token_address, b.first_ordinal, b.balance
                    FROM item_balances b
                    WHERE b.holder = %(address)s AND b.balance > 0
                        AND (SELECT is_from_end FROM span)
                    ORDER BY b.token_address DESC, b.first_ordinal DESC
                    LIMIT (SELECT pass + size FROM span)
                )
            ) AS owned
            ORDER BY token_address DESC, first_ordinal DESC
            LIMIT (SELECT size FROM span)
            OFFSET (SELECT pass FROM span)
        )
    ) AS places
    ORDER BY token_address ASC, first_ordinal ASC
)
SELECT index_version(),
    CASE WHEN EXISTS (SELECT 1 FROM span)
        THEN json_list(string_agg(
            (SELECT item_balance_record(k,
                (SELECT x.token_id FROM token_transfers x WHERE x.ordinal = page.first_ordinal),
                page.balance)::text
            FROM tokens k
            WHERE k.address = page.token_address), ',')) END,
    count(*),
    (SELECT total FROM span)
FROM page;
