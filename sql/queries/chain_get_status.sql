-- How far the index is behind the node, for /readyz. A running indexer reports at least every two minutes,
-- unless a node has asked it to wait longer, which it reports as a problem.
-- params: version text, chain_name text null
-- literals: none
-- returns: one row: index version, the body as JSON text
-- index: blocks_pkey, blocks_unproven, bodies_from_pkey
SELECT index_version(), row_to_json(body)::text
FROM (
    SELECT 'ready' AS "status",
        p.head AS "indexedBlock",
        c.start_block AS "firstBlock",
        c.fork_block AS "forkBlock",
        p.node_head AS "headBlock",
        p.lag AS "lagBlocks",
        coalesce(s.problem, CASE WHEN s.checked_at < now() - interval '2 minutes'
            THEN 'the indexer has not reported since ' || iso(s.checked_at) END) AS "problem",
        iso(s.checked_at) AS "checkedAt",
        iso(p.head_at) AS "newestBlockAt",
        c.chain_id AS "chainId",
        %(version)s AS "version",
        %(chain_name)s AS "chainName",
        CASE s.state_by_hash WHEN true THEN 'blockHash' WHEN false THEN 'blockNumber' END
            AS "stateReadBy",
        head.untraced AS "untracedBlocks",
        (SELECT greatest(f.block_number, first_kept_block()) FROM bodies_from f) AS "bodiesFrom",
        (
            SELECT json_build_object('stage', f.stage, 'lastBlock', f.last_block,
                'progress', f.progress, 'secondsLeft', f.seconds_left)
            FROM bulk_backfill f
        ) AS "backfill",
        (
            SELECT coalesce(json_agg(json_build_object('firstBlock', u.first_block,
                'lastBlock', u.last_block, 'reason', u.reason) ORDER BY u.last_block DESC), '[]')
            FROM unproven_blocks() u
        ) AS "unproven",
        unproven_block_count() AS "unprovenBlocks"
    FROM index_progress() p
    LEFT JOIN chain c ON true
    LEFT JOIN indexer_status s ON true
    LEFT JOIN LATERAL (
        SELECT b.untraced_before + (b.traced IS FALSE)::integer AS untraced
        FROM blocks b
        WHERE b.number = p.head
    ) AS head ON true
) AS body;
