-- The tokens an address held after a block, by token address: the sum of all its transfers up to there, or
-- where older ones are removed (`is_from_end`), its present balance without the transfers since; of some tokens what was read. The
-- balances of the zero address count for nobody. Its time grows with the number of these transfers.
-- params: address bytea, block_number bigint, is_from_end boolean, read_tokens bytea[],
--   read_balances numeric[], limit integer, offset bigint, after bytea null
-- returns: one row: index version, data (JSON text), count in data, total; for cursors: token
--   address of the last row where more follow
-- index: token_transfers_by_from, token_transfers_by_to, token_holders_pkey, tokens_pkey, tokens_by_skeleton, pools_pkey, blocks_pkey
WITH bound AS MATERIALIZED (
    SELECT b.token_transfers_before + b.token_transfer_count AS ordinal
    FROM blocks b
    WHERE b.number = %(block_number)s
), held AS MATERIALIZED (
    SELECT token_address,
        read_or(token_address, sum(amount), %(read_tokens)s::bytea[], %(read_balances)s::numeric[]) AS balance
    FROM (
        SELECT x.token_address, x.value AS amount
        FROM token_transfers x
        WHERE x.to_address = %(address)s AND x.to_address <> x.from_address
            AND x.ordinal < (SELECT ordinal FROM bound) AND NOT %(is_from_end)s
            AND is_of_life_at(x.token_address, x.block_number, %(block_number)s)
        UNION ALL
        SELECT x.token_address, -x.value
        FROM token_transfers x
        WHERE x.from_address = %(address)s AND x.to_address <> x.from_address
            AND x.ordinal < (SELECT ordinal FROM bound) AND NOT %(is_from_end)s
            AND is_of_life_at(x.token_address, x.block_number, %(block_number)s)
        UNION ALL
        SELECT h.token_address, h.balance
        FROM token_holders h
        WHERE h.holder = %(address)s AND %(is_from_end)s
        UNION ALL
        SELECT x.token_address, -x.value
        FROM token_transfers x
        WHERE x.to_address = %(address)s AND x.to_address <> x.from_address
            AND x.ordinal >= (SELECT ordinal FROM bound) AND %(is_from_end)s
        UNION ALL
        SELECT x.token_address, x.value
        FROM token_transfers x
        WHERE x.from_address = %(address)s AND x.to_address <> x.from_address
            AND x.ordinal >= (SELECT ordinal FROM bound) AND %(is_from_end)s
        UNION ALL
        SELECT r.token_address, 0
        FROM unnest(%(read_tokens)s::bytea[]) AS r (token_address)
    ) AS moved
    WHERE %(address)s <> '\x0000000000000000000000000000000000000000'::bytea
    GROUP BY token_address
    HAVING read_or(token_address, sum(amount), %(read_tokens)s::bytea[], %(read_balances)s::numeric[]) > 0
), page AS MATERIALIZED (
    SELECT token_address, balance
    FROM held
    WHERE token_address > coalesce(%(after)s::bytea, ''::bytea)
    ORDER BY token_address ASC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT token_balance_record(token_at(k, %(block_number)s, 2147483647), page.balance,
            (SELECT n.record FROM namesake_of(k) AS n))::text
        FROM tokens k
        WHERE k.address = page.token_address), ',' ORDER BY page.token_address)),
    count(*),
    (SELECT count(*) FROM held),
    (SELECT last.token_address
    FROM (SELECT token_address FROM page ORDER BY token_address DESC LIMIT 1) AS last
    WHERE EXISTS (SELECT FROM held WHERE held.token_address > last.token_address))
FROM page;
