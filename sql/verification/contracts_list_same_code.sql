-- Some contracts with this code.
-- params: code_hash bytea, limit integer
-- literals: limit
-- returns: address
-- index: contracts_by_code_hash
SELECT address
FROM contracts
WHERE code_hash = %(code_hash)s
LIMIT %(limit)s;
