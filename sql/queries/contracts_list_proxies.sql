-- Those of these contracts whose code is known to be a proxy's.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON array of their addresses
-- index: contracts_pkey, codes_pkey
SELECT index_version(), (
    SELECT coalesce(json_agg(hex(listed.address)), '[]')::text
    FROM unnest(%(addresses)s::bytea[]) AS listed (address)
    WHERE EXISTS (SELECT FROM code_at(listed.address) o WHERE o.is_proxy));
