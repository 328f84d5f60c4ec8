-- The tokens an address holds, by token address.
-- params: address bytea, limit integer, offset bigint
-- plan depends on: limit
-- returns: one row: data (JSON text), count in data, total
-- index: token_holders_pkey, tokens_pkey
SELECT
    (SELECT coalesce(json_agg(json_build_object(
        'tokenAddress', hex(page.token_address), 'name', k.name, 'symbol', k.symbol,
        'decimals', k.decimals, 'type', k.type, 'balance', page.balance::text)), '[]')
    FROM (
        SELECT h.token_address, h.balance
        FROM token_holders h
        WHERE h.holder = %(address)s AND h.balance > 0
        ORDER BY h.token_address ASC
        LIMIT %(limit)s
        OFFSET %(offset)s
    ) AS page
    JOIN tokens k ON k.address = page.token_address)::text,
    NULL,
    (SELECT count(*) FROM token_holders h WHERE h.holder = %(address)s AND h.balance > 0);
