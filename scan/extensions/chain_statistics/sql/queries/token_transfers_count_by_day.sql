-- The exact number of transfers of a token on each of the chain's newest days since it was first seen, from
-- its list's lengths before the days' first blocks. Days without blocks are left out.
-- params: address bytea, days integer
-- literals: none
-- returns: one row: index version, JSON text [{"time": Unix seconds, "transfers"}] oldest first
-- index: tokens_pkey, daily_stats_pkey, blocks_pkey, list_checkpoints_pkey, token_transfers_by_token
WITH whole AS MATERIALIZED (
    SELECT k.transfer_count AS entries, k.block_number FROM tokens k WHERE k.address = %(address)s
), days AS MATERIALIZED (
    SELECT s.day, s.first_block, s.last_block
    FROM daily_stats s
    ORDER BY s.day DESC
    LIMIT %(days)s
), bounds AS MATERIALIZED (
    SELECT d.day,
        entries_before('token_transfers_by_token', %(address)s, whole.entries,
            first.token_transfers_before) AS passed,
        entries_before('token_transfers_by_token', %(address)s, whole.entries,
            last.token_transfers_before + last.token_transfer_count) AS passed_after
    FROM whole, days d
    JOIN blocks first ON first.number = d.first_block
    JOIN blocks last ON last.number = d.last_block
    WHERE d.last_block >= whole.block_number AND d.first_block >= first_kept_block()
)
SELECT index_version(), coalesce((
    SELECT json_agg(json_build_object(
        'time', extract(epoch FROM n.day)::bigint, 'transfers', n.passed_after - n.passed)
        ORDER BY n.day)::text
    FROM bounds n), '[]');
