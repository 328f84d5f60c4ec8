-- Keeps who may call the functions of a verified contract; null forgets it.
-- params: address bytea, code_hash bytea, permissions text null
-- literals: none
-- returns: nothing
-- index: contract_permissions_pkey
WITH forgotten AS (
    DELETE FROM contract_permissions
    WHERE address = %(address)s AND code_hash = %(code_hash)s AND %(permissions)s::text IS NULL
)
INSERT INTO contract_permissions (address, code_hash, permissions)
SELECT %(address)s, %(code_hash)s, %(permissions)s::json
WHERE %(permissions)s::text IS NOT NULL
ON CONFLICT (address, code_hash) DO UPDATE
SET permissions = excluded.permissions;
