-- Removes some deliveries that were finished long ago. Those of blocks that may still be taken back are
-- kept whatever their age, since their removal would have to be reported. Several processes may do this at
-- once.
-- params: delivered_before timestamptz, given_up_before timestamptz, finality integer,
--   limit integer
-- returns: the number removed
-- index: deliveries_delivered, deliveries_given_up
WITH delivered AS (
    SELECT id, block_number
    FROM deliveries
    WHERE status = 'delivered' AND finished_at < %(delivered_before)s
    ORDER BY finished_at, id
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
), given_up AS (
    SELECT id, block_number
    FROM deliveries
    WHERE status IN ('failed', 'cancelled') AND finished_at < %(given_up_before)s
    ORDER BY finished_at, id
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
), deleted AS (
    DELETE FROM deliveries
    WHERE id IN (
        SELECT old.id
        FROM (SELECT id, block_number FROM delivered
            UNION ALL
            SELECT id, block_number FROM given_up) AS old
        WHERE old.block_number IS NULL
            OR old.block_number <= (SELECT max(number) FROM blocks) - %(finality)s
    )
    RETURNING 1
)
SELECT count(*) FROM deleted;
