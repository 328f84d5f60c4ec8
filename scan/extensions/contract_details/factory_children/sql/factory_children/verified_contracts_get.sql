-- What was submitted of a verified contract.
-- params: address bytea, code_hash bytea
-- returns: a row as contract_import/verified_contracts_list returns it, or none
-- index: verified_contracts_pkey
SELECT address, match, creation_match, contract_name, file_path, compiler_version, license, settings::text,
    sources::text, constructor_arguments
FROM verified_contracts
WHERE address = %(address)s AND code_hash = %(code_hash)s;
