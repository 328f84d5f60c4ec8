-- Whose code accounts run after the newest block (EIP-7702).
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON text {address: delegate} of those that run any
-- index: authorizations_by_authority
SELECT index_version(), (
    SELECT coalesce(json_object_agg(hex(d.address), hex(d.delegate)), '{}')::text
    FROM (
        SELECT r.address, delegate_of(r.address, 9223372036854775807) AS delegate
        FROM unnest(%(addresses)s::bytea[]) AS r (address)
    ) AS d
    WHERE d.delegate IS NOT NULL);
