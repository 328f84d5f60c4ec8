-- The only address that begins and ends with some hex digits, as pages show addresses; read from at most
-- 10,000 that begin with them.
-- params: first bytea, last bytea, tail text
-- literals: none
-- returns: one row: index version, address (null where none or several match)
-- index: addresses_pkey
SELECT index_version(), (
    SELECT CASE WHEN count(*) = 1 THEN min(hex(matching.address)) END
    FROM (
        SELECT a.address
        FROM addresses a
        WHERE a.address BETWEEN %(first)s AND %(last)s
        ORDER BY a.address
        LIMIT 10000) AS matching
    WHERE right(hex(matching.address), length(%(tail)s)) = %(tail)s);
