-- Keeps the interface of a verified contract; null of interface forgets it.
-- params: address bytea, code_hash bytea, interface text null
-- literals: none
-- returns: nothing
-- index: interfaces_pkey
WITH forgotten AS (
    DELETE FROM interfaces
    WHERE address = %(address)s AND code_hash = %(code_hash)s AND %(interface)s::text IS NULL
)
INSERT INTO interfaces (address, code_hash, entries)
SELECT %(address)s, %(code_hash)s, %(interface)s::json
WHERE %(interface)s::text IS NOT NULL
ON CONFLICT (address, code_hash) DO UPDATE
SET entries = excluded.entries;
