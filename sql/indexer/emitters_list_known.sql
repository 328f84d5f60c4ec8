-- The tokens, pools, rejected emitters and code among contracts in a batch of blocks.
-- params: addresses bytea[]
-- literals: none
-- returns: address, token type or null, whether its Deposit means a mint or null,
--   pool's exchange, token0, token1 or null, claims it was rejected for (text[]), its code hash
--   or null
-- index: tokens_pkey, pools_pkey, rejected_emitters_pkey, contracts_pkey
SELECT a.address, k.type, k.wraps, x.name, p.token0, p.token1,
    ARRAY(SELECT r.claim FROM rejected_emitters r WHERE r.address = a.address),
    (SELECT now.code_hash FROM contract_at(a.address) AS now)
FROM unnest(%(addresses)s::bytea[]) AS a (address)
LEFT JOIN tokens k ON k.address = a.address
LEFT JOIN pools p ON p.address = a.address
LEFT JOIN dexes x ON x.dex_id = p.dex_id;
