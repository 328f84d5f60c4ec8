-- What is verified about the code of an address: by its own verification, or by one of another
-- address with identical code.
-- params: address bytea, code_hash bytea, proxy text null
-- returns: no row, or the record as JSON text
-- index: verified_contracts_by_code_hash
SELECT verified_contract_record(v, %(address)s::bytea, %(proxy)s::json)::text
FROM verified_contracts v
WHERE v.code_hash = %(code_hash)s
ORDER BY v.address = %(address)s DESC, v.match, v.verified_at, v.address
LIMIT 1;
