-- The addresses whose contract a deployment gave a name that has a text: at most 20, the whole name first, then those
-- that begin with it.
-- params: text text
-- literals: none
-- returns: one row: index version, JSON text of the records
-- index: contracts_pkey, contract_creations_by_address, blocks_pkey, transactions_pkey, verified_contracts_by_code_hash;
--   deployment_names is read whole, which has a row a contract that the operator's own files name
WITH best AS (
    SELECT d.address, d.name,
        CASE WHEN lower(d.name) = lower(%(text)s) THEN 'exact'
            WHEN starts_with(lower(d.name), lower(%(text)s)) THEN 'prefix'
            ELSE 'similar' END AS match
    FROM deployment_names d
    WHERE strpos(lower(d.name), lower(%(text)s)) > 0 AND deployment_name_at(d.address) = d.name
    ORDER BY match, d.name, d.address
    LIMIT 20
)
SELECT index_version(), json_list(string_agg(
    search_record('address', hex(best.address), best.name, NULL, best.match, NULL, NULL,
        EXISTS (SELECT FROM verification_of(best.address) WHERE match <> 'runtime'), NULL)::text,
    ',' ORDER BY best.match, best.name, best.address))
FROM best;
