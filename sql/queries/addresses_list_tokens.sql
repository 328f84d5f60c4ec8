-- The tokens an address holds, of one type or of all, by token address; of some what was read of them.
-- params: address bytea, type text null, has_type boolean, read_tokens bytea[], read_balances numeric[],
--   limit integer, offset bigint, after bytea null
-- literals: has_type, limit
-- returns: one row: index version, data (JSON text), count in data, total; for cursors: token
--   address of the last row where more follow
-- index: token_holders_pkey, tokens_pkey, tokens_by_skeleton, pools_pkey
WITH page AS (
    SELECT h.token_address, h.balance
    FROM held_by(%(address)s, %(read_tokens)s::bytea[], %(read_balances)s::numeric[]) h
    WHERE (NOT %(has_type)s
            OR (SELECT k.type FROM tokens k WHERE k.address = h.token_address) = %(type)s)
        AND h.token_address > coalesce(%(after)s, '')
    ORDER BY h.token_address ASC
    LIMIT %(limit)s
    OFFSET %(offset)s
), last AS (
    SELECT token_address FROM page ORDER BY token_address DESC LIMIT 1
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT token_balance_record(k, page.balance,
            (SELECT n.address FROM larger_namesake(k.symbol, k.name, k.holder_count, k.address) AS n))::text
        FROM tokens k
        WHERE k.address = page.token_address), ',')),
    count(*),
    (SELECT count(*)
    FROM held_by(%(address)s, %(read_tokens)s::bytea[], %(read_balances)s::numeric[]) h
    WHERE NOT %(has_type)s
        OR (SELECT k.type FROM tokens k WHERE k.address = h.token_address) = %(type)s),
    (SELECT last.token_address
    FROM last
    WHERE EXISTS (
        SELECT
        FROM held_by(%(address)s, %(read_tokens)s::bytea[], %(read_balances)s::numeric[]) h
        WHERE (NOT %(has_type)s
                OR (SELECT k.type FROM tokens k WHERE k.address = h.token_address) = %(type)s)
            AND h.token_address > (SELECT token_address FROM last)))
FROM page;
