-- Creation code with one of these search hashes of contracts that stand now, each code once: by the verification
-- whose sources have one of these hashes of metadata, or else that with the lowest address; of the first 1,000
-- verifications, since one code may have thousands.
-- params: search_hashes bytea[], metadata_hashes bytea[]
-- literals: none
-- returns: search_hash, creation_size, masked_hash, links as JSON, the verified address, its code_hash, whether its
--   sources have such a hash
-- index: compiled_sources_by_search_hash, verified_contracts_pkey, codes_pkey
SELECT DISTINCT ON (m.search_hash, m.masked_hash) m.search_hash, m.creation_size, m.masked_hash,
    m.links::text, m.address, m.code_hash, h.is_equal
FROM (
    SELECT search_hash, creation_size, masked_hash, links, address, code_hash
    FROM compiled_sources
    WHERE search_hash = ANY (%(search_hashes)s::bytea[])
    ORDER BY search_hash, masked_hash, address
    LIMIT 1000) AS m
JOIN verified_contracts v ON v.address = m.address AND v.code_hash = m.code_hash AND v.is_indexed
JOIN codes o ON o.code_hash = m.code_hash
CROSS JOIN LATERAL (
    SELECT v.match = 'full' AND EXISTS (
        SELECT FROM unnest(%(metadata_hashes)s::bytea[]) AS given (hash)
        WHERE position(given.hash IN o.code) > 0)) AS h (is_equal)
ORDER BY m.search_hash, m.masked_hash, h.is_equal DESC, m.address;
