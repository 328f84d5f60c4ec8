-- Those of these addresses that a source was asked about since their present code was found.
-- params: source text, addresses bytea[]
-- returns: address
-- index: contract_claims_pkey, contracts_pkey
SELECT a.address
FROM contract_claims a
WHERE a.source = %(source)s AND a.address = ANY (%(addresses)s::bytea[])
    AND is_code_indexed(a.address, a.code_hash);
