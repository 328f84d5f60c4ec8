-- The verifications of the code at these addresses, and the code of addresses without one if it is as short
-- as a minimal proxy's (EIP-1167).
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON array of {address, codeHash, verifiedAddress, verifiedAt,
--   code}, where either code or the three before it are null
-- index: contracts_pkey, codes_pkey, verified_contracts_by_code_hash
SELECT index_version(), (
    SELECT json_list(string_agg(format(
        '{"address":"%%s","codeHash":%%s,"verifiedAddress":%%s,"verifiedAt":%%s,"code":%%s}',
        hex(requested.address), json_hex(v.code_hash), json_hex(v.address),
        json_text(v.verified_at::text), json_hex(short.code)), ','))
    FROM unnest(%(addresses)s::bytea[]) AS requested (address)
    CROSS JOIN contract_at(requested.address) AS now
    LEFT JOIN verification_of(requested.address) AS v ON true
    LEFT JOIN codes short ON short.code_hash = now.code_hash AND v.code_hash IS NULL
        AND octet_length(short.code) < 64
    WHERE v.code_hash IS NOT NULL OR short.code IS NOT NULL);
