-- Has this session be the one that makes a list, and takes one of the places of a client's network, which
-- it keeps as long as it is open.
-- params: list text, network text, most integer
-- literals: none
-- returns: one row: whether the list is made elsewhere, and whether the network had a place
-- index: none
WITH made AS MATERIALIZED (
    SELECT pg_try_advisory_lock(hashtextextended('scan.past_holders', hashtextextended(%(list)s, 0))) AS is_here
), place AS MATERIALIZED (
    SELECT n
    FROM made
    CROSS JOIN generate_series(1, %(most)s) AS n
    WHERE is_here AND pg_try_advisory_lock(
        hashtextextended('scan.past_holders.place', hashtextextended(concat(n, ' ', %(network)s), 0)))
    LIMIT 1
)
SELECT NOT is_here, EXISTS (SELECT FROM place) FROM made;
