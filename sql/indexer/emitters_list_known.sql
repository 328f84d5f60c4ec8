-- The tokens, pools, rejected emitters and code among contracts in a batch of blocks.
-- params: addresses bytea[]
-- literals: none
-- returns: address, token type or null where none stands, the type of a BEP20's items or null, the block from
--   which on its Deposit means a mint or null, first block after its last life or null, whether it has holdings,
--   pool's exchange, token0, token1 or null, first and last block and number of its tries by claim (JSON), its code
--   hash or null
-- index: tokens_pkey, pools_pkey, rejected_emitters_pkey, contracts_pkey
SELECT a.address, CASE WHEN k.ended_in IS NULL THEN k.type END, k.item_type,
    CASE WHEN k.ended_in IS NULL THEN k.wraps_since END,
    CASE WHEN k.ended_in IS NOT NULL THEN (k.earlier_lives -> -1 ->> 'end_block')::bigint END,
    coalesce(k.has_holdings, true), x.name, p.token0, p.token1,
    (SELECT coalesce(json_object_agg(c.claim, json_build_array(c.first_block, c.last_block, c.tries)), '{}')
        FROM (
            SELECT r.claim, min(r.block_number) AS first_block, max(r.block_number) AS last_block,
                count(*) AS tries
            FROM rejected_emitters r
            WHERE r.address = a.address
            GROUP BY r.claim) AS c),
    (SELECT now.code_hash FROM indexed_contract_at(a.address) AS now)
FROM unnest(%(addresses)s::bytea[]) AS a (address)
LEFT JOIN tokens k ON k.address = a.address
LEFT JOIN pools p ON p.address = a.address
LEFT JOIN dexes x ON x.dex_id = p.dex_id;
