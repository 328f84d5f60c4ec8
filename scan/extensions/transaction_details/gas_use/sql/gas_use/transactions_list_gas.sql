-- What the newest transactions to a contract took, by method.
-- params: address bytea, limit integer, most integer
-- literals: limit
-- returns: one row: index version, JSON array of {method, calls, failed, median, p90, worst} over at most
--   `most` of a method, those with most calls first; method is null of transactions without input; gas is that
--   of calls that did not fail, null where all did
-- index: transactions_by_to
SELECT index_version(), (
    SELECT coalesce(json_agg(json_build_object(
            'method', json_hex(m.method)::json,
            'calls', m.calls,
            'failed', m.failed,
            'median', m.median::text,
            'p90', m.p90::text,
            'worst', m.worst::text
        ) ORDER BY m.calls DESC, m.method), '[]')::text
    FROM (
        SELECT n.method, count(*) AS calls, count(*) FILTER (WHERE NOT n.status) AS failed,
            percentile_disc(0.5) WITHIN GROUP (ORDER BY n.gas_used)
                FILTER (WHERE n.status IS NOT FALSE) AS median,
            percentile_disc(0.9) WITHIN GROUP (ORDER BY n.gas_used)
                FILTER (WHERE n.status IS NOT FALSE) AS p90,
            max(n.gas_used) FILTER (WHERE n.status IS NOT FALSE) AS worst
        FROM (
            SELECT t.method, t.status, t.gas_used,
                row_number() OVER (PARTITION BY t.method ORDER BY t.ordinal DESC) AS place
            FROM (
                SELECT method, status, gas_used, ordinal
                FROM transactions
                WHERE to_address = %(address)s AND to_address <> from_address
                ORDER BY ordinal DESC
                LIMIT %(limit)s) AS t) AS n
        WHERE n.place <= %(most)s
        GROUP BY n.method) AS m);
