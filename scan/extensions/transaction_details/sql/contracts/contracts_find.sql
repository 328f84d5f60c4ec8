-- The contracts at these addresses: their code, their type of token, and the verification whose ABI fits
-- their code.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: JSON array of {address, codeHash, tokenType, verifiedAddress, verifiedAt} of
--   those that are contracts; the last three may be null
-- index: contracts_pkey, tokens_pkey, verified_contracts_by_code_hash
SELECT json_list(string_agg(format(
    '{"address":"%%s","codeHash":"%%s","tokenType":%%s,"verifiedAddress":%%s,"verifiedAt":%%s}',
    hex(requested.address), hex(now.code_hash), json_text(k.type), json_hex(v.address),
    json_text(v.verified_at::text)), ','))
FROM unnest(%(addresses)s::bytea[]) AS requested (address)
CROSS JOIN contract_at(requested.address) AS now
LEFT JOIN tokens k ON k.address = requested.address
LEFT JOIN verification_of(requested.address) AS v ON true;
