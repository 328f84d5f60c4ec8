-- Stores contracts; a full match takes the place of a partial one, and another compilation that of one
-- that gave other code.
-- params: addresses bytea[], code_hashes bytea[], compilation_ids text[], matches text[]
-- returns: nothing
-- index: exported_contracts_pkey
INSERT INTO exported_contracts AS e (address, code_hash, compilation_id, match, received_at)
SELECT DISTINCT ON (r.address, r.code_hash) r.address, r.code_hash, r.compilation_id, r.match, now()
FROM unnest(%(addresses)s::bytea[], %(code_hashes)s::bytea[], %(compilation_ids)s::uuid[], %(matches)s::text[])
    AS r (address, code_hash, compilation_id, match)
WHERE NOT EXISTS (SELECT
    FROM exported_contracts o
    WHERE o.address = r.address AND o.code_hash = r.code_hash AND o.compilation_id = r.compilation_id
        AND o.outcome = 'different')
ORDER BY r.address, r.code_hash, r.match, r.compilation_id
ON CONFLICT (address, code_hash) DO UPDATE
SET compilation_id = excluded.compilation_id, match = excluded.match, received_at = excluded.received_at,
    outcome = 'claimed', reason = NULL, due_at = '-infinity', attempts = 0
WHERE e.match > excluded.match OR e.outcome = 'different';
