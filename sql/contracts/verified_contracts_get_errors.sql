-- The errors in the ABI of the contract that stood at an address in a block, from a verification of its code
-- there or elsewhere, or else from the operator's build; of more than 1,000 the first.
-- params: address bytea, block_number bigint
-- returns: no row where its code has neither; else the ABI's entries as a JSON array
-- index: contracts_pkey, replaced_codes_pkey, verified_contracts_by_code_hash, built_abis_pkey
SELECT (
    SELECT coalesce(json_agg(entry ORDER BY ordinality), '[]')
    FROM (
        SELECT entry, ordinality
        FROM json_array_elements(known.abi) WITH ORDINALITY AS entries (entry, ordinality)
        WHERE entry ->> 'type' = 'error'
        ORDER BY ordinality
        LIMIT 1000
    ) AS errors)
FROM abi_at(%(address)s, %(block_number)s) AS known;
