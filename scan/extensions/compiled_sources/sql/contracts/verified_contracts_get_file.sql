-- A source file of a verified contract, and the paths of all of its files.
-- params: address bytea, code_hash bytea, path text
-- returns: no row, or: text of the file (null: there is none at the path), main path, paths as JSON array
-- index: verified_contracts_pkey
SELECT v.sources -> %(path)s ->> 'content', v.file_path,
    (SELECT json_agg(path) FROM json_object_keys(v.sources) AS path)
FROM verified_contracts v
WHERE v.address = %(address)s AND v.code_hash = %(code_hash)s;
