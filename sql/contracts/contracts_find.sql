-- What the index has of the contracts at addresses: their code, the token they are, and which
-- verification has their code's ABI.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: JSON array of {address, codeHash, tokenType, verifiedAddress, verifiedAt} of
--   those that are contracts; the last three may be null
-- index: contracts_pkey, tokens_pkey, verified_contracts_by_code_hash
SELECT json_list(string_agg(format(
    '{"address":"%%s","codeHash":"%%s","tokenType":%%s,"verifiedAddress":%%s,"verifiedAt":%%s}',
    hex(asked.address), hex(now.code_hash), json_text(k.type), json_hex(v.address),
    json_text(v.verified_at::text)), ','))
FROM unnest(%(addresses)s::bytea[]) AS asked (address)
CROSS JOIN LATERAL (
    SELECT c.code_hash
    FROM contracts c
    WHERE c.address = asked.address
    ORDER BY c.block_number DESC
    LIMIT 1
) AS now
LEFT JOIN tokens k ON k.address = asked.address
LEFT JOIN verification_of(asked.address) AS v ON true;
