-- The entries for one function in the ABI of the contract that stood at an address in a block, from a
-- verification of its code there or elsewhere, or else from the operator's build: its overloads, or where there
-- are none the names of other functions.
-- params: address bytea, block_number bigint, function_name text
-- returns: no row where its code has neither; else JSON {"functions": the ABI's entries,
--   "others": up to 50 names of view and pure functions, empty where "functions" is not}
-- index: contracts_pkey, replaced_codes_pkey, verified_contracts_by_code_hash, built_abis_pkey
WITH known AS MATERIALIZED (
    SELECT abi FROM abi_at(%(address)s, %(block_number)s)
), functions AS MATERIALIZED (
    SELECT entry, ordinality, entry ->> 'name' AS name,
        coalesce(
            entry ->> 'stateMutability' IN ('view', 'pure'),
            entry ->> 'constant' = 'true',
            false) AS read_only
    FROM known, json_array_elements(known.abi) WITH ORDINALITY AS entries (entry, ordinality)
    WHERE coalesce(entry ->> 'type', 'function') = 'function'
), named AS (
    SELECT coalesce(json_agg(entry ORDER BY ordinality), '[]') AS entries
    FROM functions
    WHERE name = %(function_name)s
), others AS (
    SELECT coalesce(json_agg(name ORDER BY name), '[]') AS names
    FROM (
        SELECT DISTINCT name COLLATE "C" AS name
        FROM functions
        WHERE read_only AND name IS NOT NULL
            AND NOT EXISTS (SELECT FROM functions WHERE name = %(function_name)s)
        ORDER BY 1
        LIMIT 50
    ) AS first
)
SELECT json_build_object('functions', named.entries, 'others', others.names)
FROM known, named, others;
