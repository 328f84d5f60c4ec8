-- The code that stands at an address now.
-- params: address bytea
-- returns: no row where nothing is indexed; code_hash, code, first block with this code
-- index: contracts_pkey, codes_pkey
SELECT now.code_hash, c.code, now.block_number
FROM contract_at(%(address)s) AS now
JOIN codes c ON c.code_hash = now.code_hash;
