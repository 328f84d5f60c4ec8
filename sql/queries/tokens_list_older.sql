-- Of some tokens, those whose creation no indexed block has: transfers before the index begins may be missing.
-- params: tokens bytea[]
-- literals: none
-- returns: one row: index version, these tokens bytea[], number and hash of the newest block
-- index: contract_creations_by_address, blocks_pkey
SELECT index_version(),
    ARRAY(
        SELECT t.address
        FROM unnest(%(tokens)s::bytea[]) AS t (address)
        WHERE NOT EXISTS (SELECT FROM contract_creations n WHERE n.address = t.address)
    ),
    newest.number, newest.hash
FROM (SELECT) AS always
LEFT JOIN (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS newest ON true;
