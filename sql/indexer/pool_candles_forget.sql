-- Before blocks are written or unwound: where candles do not count the blocks up to the head, since an
-- older version has written some or taken some back, forgets them all, and counts from here on.
-- params: head_hash bytea null, next_trade bigint
-- returns: nothing
-- index: none
WITH stale AS MATERIALIZED (
    SELECT NOT EXISTS (
        SELECT FROM pool_candles_state s WHERE s.last_hash IS NOT DISTINCT FROM %(head_hash)s::bytea
    ) AS is_stale
), lost AS (
    DELETE FROM pool_candles WHERE (SELECT is_stale FROM stale)
), reset AS (
    UPDATE pools SET volume0 = 0, volume1 = 0
    WHERE (SELECT is_stale FROM stale) AND (volume0 <> 0 OR volume1 <> 0)
)
INSERT INTO pool_candles_state (first_trade, last_hash)
SELECT %(next_trade)s, %(head_hash)s FROM stale WHERE is_stale
ON CONFLICT (only_row) DO UPDATE SET
    first_trade = EXCLUDED.first_trade,
    last_hash = EXCLUDED.last_hash;
