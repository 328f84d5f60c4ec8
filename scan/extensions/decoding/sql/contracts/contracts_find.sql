-- The contracts that stood at these addresses in a range of blocks: from and to which block, from
-- which transaction in it, their code, the type of the last token that each was, the verification whose ABI fits their code, and else when the ABI of the
-- operator's build with their code was stored.
-- params: addresses bytea[], first_block bigint, last_block bigint
-- literals: none
-- returns: one row: JSON array of {address, firstBlock, firstIndex, lastBlock, codeHash, tokenType, verifiedAddress,
--   verifiedAt, builtAt, hasInterface}; of the last five, the first four may be null
-- index: contracts_pkey, contract_creations_by_address, tokens_pkey, verified_contracts_by_code_hash, built_abis_pkey, interfaces_pkey,
--   replaced_codes_pkey
SELECT json_list(string_agg(format(
    '{"address":"%%s","firstBlock":%%s,"firstIndex":%%s,"lastBlock":%%s,"codeHash":"%%s","tokenType":%%s,'
    '"verifiedAddress":%%s,"verifiedAt":%%s,"builtAt":%%s,"hasInterface":%%s}',
    hex(requested.address), c.first_block, c.first_index, c.last_block, hex(c.code_hash),
    json_text(CASE WHEN k.earlier_lives IS NULL THEN k.type ELSE (
        SELECT l.type
        FROM token_lives(k) AS l
        WHERE l.block_number BETWEEN c.first_block AND c.last_block
        ORDER BY l.block_number DESC
        LIMIT 1) END),
    json_hex(v.address), json_text(v.verified_at::text), json_text(b.stored_at::text),
    (i.address IS NOT NULL)::text), ','))
FROM unnest(%(addresses)s::bytea[]) AS requested (address)
CROSS JOIN contract_spans(requested.address, %(first_block)s::bigint, %(last_block)s::bigint) AS c
LEFT JOIN tokens k ON k.address = requested.address
LEFT JOIN verification_of_code(requested.address, c.code_hash) AS v ON true
LEFT JOIN built_abis b ON v.address IS NULL AND b.code_hash = c.code_hash
LEFT JOIN interfaces i ON i.address = v.address AND i.code_hash = v.code_hash;
