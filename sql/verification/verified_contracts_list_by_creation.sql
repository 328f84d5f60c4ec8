-- Verifications of a code with whose creation code a creation begins: the best of each length, the best first.
-- params: code_hash bytea, creation bytea, lengths integer
-- literals: none
-- returns: of the longest so many lengths: creation_hash, creation_length, ABI as JSON text
-- index: verified_contracts_by_creation_length, verified_contracts_by_creation
WITH RECURSIVE of_code AS (
    SELECT 1 AS number, (
        SELECT max(v.creation_length)
        FROM verified_contracts v
        WHERE v.code_hash = %(code_hash)s AND v.creation_hash IS NOT NULL
            AND v.creation_length <= octet_length(%(creation)s)) AS length
    UNION ALL
    SELECT o.number + 1, (
        SELECT max(v.creation_length)
        FROM verified_contracts v
        WHERE v.code_hash = %(code_hash)s AND v.creation_hash IS NOT NULL AND v.creation_length < o.length)
    FROM of_code o
    WHERE o.length IS NOT NULL AND o.number < %(lengths)s
), beginnings AS MATERIALIZED ( -- of up to 48 KB, hashed once each
    SELECT sha256(substr(%(creation)s, 1, o.length)) AS hash
    FROM of_code o
    WHERE o.length IS NOT NULL
)
SELECT v.creation_hash, v.creation_length, v.abi::text
FROM beginnings b
CROSS JOIN LATERAL (
    SELECT v.creation_hash, v.creation_length, v.abi, v.match, v.verified_at, v.address
    FROM verified_contracts v
    WHERE v.code_hash = %(code_hash)s AND v.creation_hash = b.hash
    ORDER BY v.match, v.verified_at, v.address
    LIMIT 1) AS v
ORDER BY v.match, v.verified_at, v.address;
