-- Functions and events in the verified ABIs of the code at addresses; of each the first 1,000.
-- params: addresses bytea[]
-- returns: no row where none is verified; address, the ABI's entries as a JSON array
-- index: contracts_pkey, verified_contracts_by_code_hash
SELECT asked.address, (
    SELECT coalesce(json_agg(entry ORDER BY ordinality), '[]')
    FROM (
        SELECT entry, ordinality
        FROM json_array_elements(verified.abi) WITH ORDINALITY AS entries (entry, ordinality)
        WHERE entry ->> 'type' IN ('function', 'event')
        ORDER BY ordinality
        LIMIT 1000
    ) AS named)
FROM unnest(%(addresses)s::bytea[]) AS asked (address), LATERAL (
    SELECT v.abi
    FROM verified_contracts v
    WHERE v.code_hash = (
        SELECT c.code_hash
        FROM contracts c
        WHERE c.address = asked.address
        ORDER BY c.block_number DESC
        LIMIT 1)
    ORDER BY v.address = asked.address DESC, v.match, v.verified_at, v.address
    LIMIT 1
) AS verified;
