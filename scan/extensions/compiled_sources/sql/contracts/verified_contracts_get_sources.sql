-- The source files of a verified contract.
-- params: address bytea, code_hash bytea
-- literals: none
-- returns: no row, or: the files as JSON by their paths, main path
-- index: verified_contracts_pkey
SELECT sources, file_path FROM verified_contracts WHERE address = %(address)s AND code_hash = %(code_hash)s;
