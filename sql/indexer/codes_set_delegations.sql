-- Stores how codes pass calls on.
-- params: code_hashes bytea[], delegations text[]
-- returns: nothing
-- index: codes_pkey
UPDATE codes o
SET delegation = followed.delegation
FROM unnest(%(code_hashes)s::bytea[], %(delegations)s::text[]) AS followed (code_hash, delegation)
WHERE o.code_hash = followed.code_hash;
