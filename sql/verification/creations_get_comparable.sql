-- A contract whose creation is to be compared with those of verifications of its code.
-- params: address bytea
-- returns: no row where its own verification counts, or none has creation code; code_hash, first block with this
--   code, creation_hash of the verification that is shown (null: it has none), the time
-- index: contracts_pkey, verified_contracts_pkey, verified_contracts_by_code_hash, verified_contracts_by_creation,
--   creation_comparisons_pkey
SELECT now.code_hash, now.block_number, shown.creation_hash, now()
FROM contract_at(%(address)s) AS now
CROSS JOIN verification_of_code(%(address)s, now.code_hash) AS shown
WHERE EXISTS (SELECT
        FROM verified_contracts v
        WHERE v.code_hash = now.code_hash AND v.creation_hash IS NOT NULL)
    AND (shown.address <> %(address)s OR shown.match = 'runtime' OR EXISTS (SELECT
        FROM creation_comparisons e
        WHERE e.address = %(address)s AND e.code_hash = now.code_hash AND e.is_equal IS NULL));
