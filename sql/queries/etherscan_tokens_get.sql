-- One token.
-- params: address bytea
-- literals: none
-- returns: one row: index version, the record as JSON text (null where there is no such token),
--   holder count
-- index: tokens_pkey
SELECT index_version(),
    CASE WHEN k.address IS NOT NULL THEN format(
        '{"contractAddress":"%%s","tokenName":%%s,"symbol":%%s,"divisor":"%%s","tokenType":"%%s",'
        '"totalSupply":"%%s"}',
        hex(k.address), json_text(k.name), json_text(k.symbol), k.decimals,
        CASE k.type WHEN 'BEP20' THEN 'ERC20' WHEN 'BEP721' THEN 'ERC721' ELSE 'ERC1155' END,
        token_supply(k)) END,
    k.holder_count
FROM (SELECT 1) AS always
LEFT JOIN tokens k ON k.address = %(address)s;
