-- Codes that no verification has, of one of these lengths, each with a contract that has it now, among the
-- newest contracts; the newest are the last. Code may be there without a creation, as a node of developers can
-- place it, and is then known since the block in which the indexer met it.
-- params: after bigint, noticed_after bigint, lengths integer[], limit integer
-- literals: none
-- returns: code_hash, address
-- index: contract_creations_pkey, contracts_by_block, contracts_pkey, codes_pkey, verified_contracts_by_code_hash
SELECT o.code_hash, (array_agg(n.address ORDER BY n.address))[1] -- min(bytea) is new in PostgreSQL 18
FROM (
    (SELECT block_number, address
    FROM contract_creations
    WHERE ordinal >= first_ordinal_in(%(after)s)
    ORDER BY ordinal DESC
    LIMIT %(limit)s)
    UNION
    (SELECT block_number, address
    FROM contracts
    WHERE block_number >= %(noticed_after)s
    ORDER BY block_number DESC
    LIMIT %(limit)s)) AS n
CROSS JOIN LATERAL code_at(n.address) AS o
WHERE octet_length(o.code) = ANY (%(lengths)s::integer[])
    AND NOT EXISTS (SELECT FROM verified_contracts v WHERE v.code_hash = o.code_hash AND v.match <> 'runtime')
GROUP BY o.code_hash
ORDER BY max(n.block_number);
