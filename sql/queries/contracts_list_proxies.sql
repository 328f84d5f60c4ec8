-- Those of these contracts that are proxies by their code, or by traces.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON array of their addresses
-- index: contracts_pkey, codes_pkey, delegated_calls_by_address
SELECT index_version(), (
    SELECT coalesce(json_agg(hex(listed.address)), '[]')::text
    FROM unnest(%(addresses)s::bytea[]) AS listed (address)
    WHERE is_proxy(listed.address));
