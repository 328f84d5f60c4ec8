-- The tokens an address holds, by token address.
-- params: address bytea, limit integer, offset bigint
-- literals: limit
-- returns: one row: index version, data (JSON text; null where the address has not been seen),
--   count in data, total
-- index: addresses_pkey, token_holders_pkey, tokens_pkey
WITH page AS (
    SELECT h.token_address, h.balance
    FROM token_holders h
    WHERE h.holder = %(address)s AND h.balance > 0
    ORDER BY h.token_address ASC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    CASE WHEN EXISTS (SELECT 1 FROM addresses a WHERE a.address = %(address)s)
        THEN json_list(string_agg(
            (SELECT token_balance_record(k, page.balance)::text
            FROM tokens k
            WHERE k.address = page.token_address), ',')) END,
    count(*),
    (SELECT count(*) FROM token_holders h WHERE h.holder = %(address)s AND h.balance > 0)
FROM page;
