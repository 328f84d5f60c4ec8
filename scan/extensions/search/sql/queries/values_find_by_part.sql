-- The only address or block hash that begins and ends with some hex digits, as pages show them; read
-- from at most 10,000 of each that begin with them. Transactions have no index for that:
-- queries/transactions_find_by_part.
-- params: first_address bytea null, last_address bytea null, first_hash bytea, last_hash bytea,
--   tail text
-- literals: none
-- returns: one row: index version, value in hex (null where none or several match), whether none matches
-- index: addresses_pkey, blocks_hash_key
WITH beginning AS MATERIALIZED (
    (
        SELECT hex(a.address) AS value
        FROM addresses a
        WHERE a.address BETWEEN %(first_address)s AND %(last_address)s
        ORDER BY a.address
        LIMIT 10000
    ) UNION ALL (
        SELECT hex(b.hash)
        FROM blocks b
        WHERE b.hash BETWEEN %(first_hash)s AND %(last_hash)s
        ORDER BY b.hash
        LIMIT 10000
    )
), matching AS (
    SELECT value
    FROM beginning
    WHERE right(value, length(%(tail)s)) = %(tail)s
    LIMIT 2
)
SELECT index_version(), CASE WHEN count(*) = 1 THEN min(value) END, count(*) = 0
FROM matching;
