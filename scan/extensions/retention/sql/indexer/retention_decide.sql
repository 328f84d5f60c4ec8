-- Moves the beginning of lists to the first block of those to be kept: the newest `keep_blocks`, or those
-- of `keep_s` seconds up to the newest one, or up to now if that is later. Nothing changes before a
-- seventeenth of the kept blocks is too many. The last `finality` blocks, which a reorganisation may take
-- back, are kept, and the whole hour of the first of them, since a candle may be made again from its
-- trades.
-- params: keep_blocks bigint null, keep_s bigint null, finality bigint, now timestamptz
-- returns: first_block if it was changed, else no row
-- index: blocks_pkey
WITH ends AS MATERIALIZED (
    SELECT o.number AS oldest, n.number AS newest, n.timestamp
    FROM (SELECT b.number FROM blocks b ORDER BY b.number ASC LIMIT 1) AS o,
        (SELECT b.number, b.timestamp FROM blocks b ORDER BY b.number DESC LIMIT 1) AS n
), chosen AS MATERIALIZED (
    SELECT e.oldest, e.newest, least(
        e.newest + 1 - %(keep_blocks)s::bigint,
        first_block_since(least(e.timestamp, %(now)s) - make_interval(secs => %(keep_s)s)),
        first_block_since(date_trunc('hour', f.timestamp, 'UTC')), f.number) AS first_block
    FROM ends e
    JOIN blocks f ON f.number = e.newest - %(finality)s
)
INSERT INTO retention AS r (first_block, decided_block, decided_at, removed_to)
SELECT c.first_block, c.newest, %(now)s, c.oldest
FROM chosen c
LEFT JOIN retention k ON true
WHERE c.first_block > c.oldest AND (k.first_block IS NULL
    OR (c.newest - c.first_block) * 17 <= (c.newest - k.first_block) * 16)
ON CONFLICT (only_row) DO UPDATE SET first_block = EXCLUDED.first_block,
    decided_block = EXCLUDED.decided_block, decided_at = EXCLUDED.decided_at
RETURNING r.first_block;
