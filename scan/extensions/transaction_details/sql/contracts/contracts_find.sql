-- The contracts at these addresses: their code, their type of token, the verification whose ABI fits their
-- code, and else when the ABI of the operator's build with their code was stored.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: JSON array of {address, codeHash, tokenType, verifiedAddress, verifiedAt, builtAt,
--   hasInterface} of those that are contracts; of the last five, the first four may be null
-- index: contracts_pkey, tokens_pkey, verified_contracts_by_code_hash, built_abis_pkey, interfaces_pkey
SELECT json_list(string_agg(format(
    '{"address":"%%s","codeHash":"%%s","tokenType":%%s,"verifiedAddress":%%s,"verifiedAt":%%s,"builtAt":%%s,'
    '"hasInterface":%%s}',
    hex(requested.address), hex(now.code_hash), json_text(k.type), json_hex(v.address),
    json_text(v.verified_at::text), json_text(b.stored_at::text),
    (i.address IS NOT NULL)::text), ','))
FROM unnest(%(addresses)s::bytea[]) AS requested (address)
CROSS JOIN contract_at(requested.address) AS now
LEFT JOIN tokens k ON k.address = requested.address
LEFT JOIN verification_of(requested.address) AS v ON true
LEFT JOIN built_abis b ON v.address IS NULL AND b.code_hash = now.code_hash
LEFT JOIN interfaces i ON i.address = v.address AND i.code_hash = v.code_hash;
