-- What is verified about the code of an address: by its own verification, or by one of another
-- address with identical code. Of the large parts only those that `parts` names.
-- params: address bytea, parts text[]
-- returns: one row: chain_id (null: nothing is indexed), match (null: not verified), creation_match,
--   verified_at, match_id, contract_name, file_path, compiler_version, settings, abi, sources,
--   metadata, code, creating transaction (hash, block_number, transaction_index, from_address; null
--   when a contract created it, or when it was deployed more than once)
-- index: contracts_pkey, codes_pkey, verified_contracts_by_code_hash, transactions_by_contract
SELECT chain.chain_id::text, v.match, v.creation_match, iso(v.verified_at), v.match_id::text,
    v.contract_name, v.file_path, v.compiler_version,
    CASE WHEN 'settings' = ANY (%(parts)s) THEN v.settings END::text,
    CASE WHEN 'abi' = ANY (%(parts)s) THEN v.abi END::text,
    CASE WHEN 'sources' = ANY (%(parts)s) THEN v.sources END::text,
    CASE WHEN 'metadata' = ANY (%(parts)s) THEN v.metadata END,
    c.code, t.hash, t.block_number, t.transaction_index, t.from_address
FROM (SELECT) AS always
LEFT JOIN chain ON true
LEFT JOIN LATERAL (
    SELECT code_hash
    FROM contracts
    WHERE address = %(address)s
    ORDER BY block_number DESC
    LIMIT 1
) AS now ON true
LEFT JOIN LATERAL (
    SELECT match, CASE WHEN address = %(address)s THEN creation_match END AS creation_match,
        verified_at, match_id, contract_name, file_path, compiler_version, settings, abi, sources,
        metadata
    FROM verified_contracts
    WHERE code_hash = now.code_hash
    ORDER BY address = %(address)s DESC, match, verified_at, address
    LIMIT 1
) AS v ON true
LEFT JOIN codes c ON 'code' = ANY (%(parts)s) AND c.code_hash = now.code_hash
LEFT JOIN LATERAL (
    SELECT (array_agg(hash))[1] AS hash, (array_agg(block_number))[1] AS block_number,
        (array_agg(transaction_index))[1] AS transaction_index,
        (array_agg(from_address))[1] AS from_address
    FROM transactions
    WHERE 'deployment' = ANY (%(parts)s) AND contract_address = %(address)s AND status
    HAVING count(*) = 1
) AS t ON true;
