-- Who holds a token, largest balance first.
-- params: address bytea, limit integer, offset bigint
-- plan depends on: limit
-- returns: no row where there is no such token; else data (JSON text), count in data, total
-- index: token_holders_by_balance, tokens_pkey
SELECT
    (SELECT coalesce(json_agg(json_build_object(
        'address', hex(page.holder), 'balance', page.balance::text)), '[]')
    FROM (
        SELECT h.holder, h.balance
        FROM token_holders h
        WHERE h.token_address = %(address)s AND h.balance > 0
        ORDER BY h.balance DESC, h.holder DESC
        LIMIT %(limit)s
        OFFSET %(offset)s
    ) AS page)::text,
    NULL,
    k.holder_count
FROM tokens k
WHERE k.address = %(address)s;
