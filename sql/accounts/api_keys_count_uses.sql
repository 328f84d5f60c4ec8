-- Adds the requests that one process counted. The rows are locked in the order of their ids, so that two
-- processes that write the same keys do not wait for each other for ever; their rows by day after them.
-- params: ids bigint[], requests bigint[], used_at double precision[]
-- returns: nothing
-- index: api_keys_pkey, api_key_uses_pkey
WITH used AS (
    SELECT u.id, u.requests, to_timestamp(u.used_at) AS used_at
    FROM unnest(%(ids)s::bigint[], %(requests)s::bigint[], %(used_at)s::double precision[])
        AS u (id, requests, used_at)
),
locked AS (
    SELECT k.id
    FROM api_keys k
    JOIN used ON used.id = k.id
    ORDER BY k.id
    FOR UPDATE OF k
),
forgotten AS (
    DELETE FROM api_key_uses d
    USING locked
    WHERE d.key_id = locked.id AND d.day < current_date - 400
),
by_day AS (
    INSERT INTO api_key_uses AS d (key_id, day, requests)
    SELECT used.id, (used.used_at AT TIME ZONE 'UTC')::date, used.requests
    FROM used
    JOIN locked ON locked.id = used.id
    ORDER BY used.id
    ON CONFLICT (key_id, day) DO UPDATE SET requests = d.requests + excluded.requests
)
UPDATE api_keys k
SET
    total_requests = k.total_requests + used.requests,
    last_used_at = greatest(k.last_used_at, used.used_at)
FROM used
JOIN locked ON locked.id = used.id
WHERE k.id = used.id;
