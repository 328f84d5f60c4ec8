-- In DuckDB: makes the table of this chain's contracts with the code that they have.
-- params: chain_id bigint, deployments text[], contracts text[], codes text[]
-- returns: nothing
-- index: none
CREATE TABLE deployed AS
SELECT TRY_CAST(d.id AS UUID) AS id, d.address, c.code_hash_keccak AS code_hash
FROM read_parquet(%(deployments)s, union_by_name = true) d
JOIN read_parquet(%(contracts)s, union_by_name = true) k
    ON TRY_CAST(k.id AS UUID) = TRY_CAST(d.contract_id AS UUID)
JOIN read_parquet(%(codes)s, union_by_name = true) c ON c.code_hash = k.runtime_code_hash
WHERE d.chain_id = %(chain_id)s AND octet_length(d.address) = 20 AND octet_length(c.code_hash_keccak) = 32;
