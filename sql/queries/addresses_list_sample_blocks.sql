-- Blocks evenly spread from the first an address was seen in to the head.
-- params: address bytea, points integer
-- literals: none
-- returns: one row: index version, JSON text [{"number", "time": Unix seconds}], oldest first
-- index: addresses_pkey, blocks_pkey
SELECT index_version(), coalesce((
    SELECT json_agg(json_build_object(
        'number', b.number, 'time', extract(epoch FROM b.timestamp)::bigint) ORDER BY b.number)::text
    FROM addresses a, (SELECT max(number) AS number FROM blocks) AS head,
        LATERAL (
            SELECT DISTINCT a.first_seen + (head.number - a.first_seen) * place / %(points)s
            FROM generate_series(0, %(points)s) AS place
        ) AS sample (number)
    JOIN blocks b ON b.number = sample.number
    WHERE a.address = %(address)s), '[]');
