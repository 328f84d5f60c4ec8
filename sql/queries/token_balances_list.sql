-- The BEP20 tokens that an address holds, by the tokens' addresses.
-- params: address bytea, limit integer, offset bigint
-- literals: none
-- returns: one row: index version, data (JSON text)
-- index: token_holders_pkey, tokens_pkey
SELECT index_version(),
    json_list((
        SELECT string_agg(format(
            '{"TokenAddress":"%%s","TokenName":%%s,"TokenSymbol":%%s,"TokenQuantity":"%%s",'
            '"TokenDivisor":"%%s"}',
            hex(held.address), json_text(held.name), json_text(held.symbol), held.balance,
            held.decimals), ',')
        FROM (
            SELECT k.address, k.name, k.symbol, k.decimals, h.balance
            FROM token_holders h
            JOIN tokens k ON k.address = h.token_address
            WHERE h.holder = %(address)s AND h.balance > 0 AND k.type = 'BEP20'
            ORDER BY h.token_address ASC
            LIMIT %(limit)s
            OFFSET %(offset)s
        ) AS held));
