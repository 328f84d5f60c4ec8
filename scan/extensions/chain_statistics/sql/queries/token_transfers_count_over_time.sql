-- The total number of transfers that a token had at points in time: at most 60 of its checkpoints, evenly
-- chosen, and its newest transfer.
-- params: address bytea
-- literals: none
-- returns: one row: index version, JSON text [{"time": Unix seconds, "transfers"}] oldest first
-- index: tokens_pkey, list_checkpoints_pkey, token_transfers_by_token, token_transfers_pkey, blocks_pkey,
--   kept_addresses_pkey
WITH whole AS (
    SELECT k.transfer_count AS entries, k.block_number FROM tokens k WHERE k.address = %(address)s
), places AS (
    SELECT place * checkpoint_every() AS place
    FROM whole, generate_series(1, (whole.entries - 1) / checkpoint_every(),
        (whole.entries - 1) / checkpoint_every() / 60 + 1) AS place
), points AS (
    SELECT w.block_number, 0::bigint AS transfers FROM whole w
    UNION ALL
    SELECT (SELECT c.block_number
        FROM list_checkpoints c
        WHERE c.list = 'token_transfers_by_token' AND c.key = %(address)s
            AND c.place = places.place), places.place
    FROM places
    UNION ALL
    (SELECT x.block_number, whole.entries
    FROM whole, token_transfers x
    WHERE x.token_address = %(address)s AND x.ordinal >= first_kept_ordinal('token_transfers', %(address)s)
    ORDER BY x.ordinal DESC
    LIMIT 1)
)
SELECT index_version(), coalesce((
    SELECT json_agg(json_build_object(
        'time', extract(epoch FROM b.timestamp)::bigint, 'transfers', p.transfers)
        ORDER BY p.transfers)::text
    FROM points p
    JOIN blocks b ON b.number = p.block_number), '[]');
