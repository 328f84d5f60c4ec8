-- Stores the name of a contract, unless it has it: processes that serve compare at the same time.
-- params: address bytea, code_hash bytea, creation bytea null, name text
-- literals: none
-- returns: no rows
-- index: deployment_names_pkey
INSERT INTO deployment_names AS d (address, code_hash, creation, name)
VALUES (%(address)s, %(code_hash)s, %(creation)s, %(name)s)
ON CONFLICT (address) DO UPDATE
SET code_hash = excluded.code_hash, creation = excluded.creation, name = excluded.name
WHERE (d.code_hash, d.creation, d.name)
    IS DISTINCT FROM (excluded.code_hash, excluded.creation, excluded.name);
