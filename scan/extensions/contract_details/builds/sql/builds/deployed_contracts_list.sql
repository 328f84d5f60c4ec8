-- Which of these addresses have a contract now.
-- params: addresses bytea[]
-- literals: none
-- returns: address, code_hash, hash of the transaction that created it (null: not indexed)
-- index: contracts_pkey, contract_creations_by_address, blocks_pkey, transactions_pkey
SELECT requested.address, c.code_hash, creation_hash_at(requested.address)
FROM unnest(%(addresses)s::bytea[]) AS requested (address)
CROSS JOIN LATERAL contract_at(requested.address) AS c;
