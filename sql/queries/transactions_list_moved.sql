-- What transactions of a list moved of tokens, seen from one party of each, such as its sender: of each
-- token, or item, what the party gained or gave in all. The party's transfers in the transaction's block
-- are read, which its lists have together.
-- params: blocks bigint[], indexes integer[], parties bytea[]
-- literals: none
-- returns: one row: index version, JSON text [[{"tokenAddress", "tokenId" or null, "change" with its sign,
--   "counterparty": the only other party or null}] of at most 8 in their order, null where the party has
--   more than 64 transfers in it] in the order of the arguments
-- index: blocks_pkey, token_transfers_by_from, token_transfers_by_to
SELECT index_version(), (
    SELECT coalesce(json_agg(changes.of_tokens ORDER BY requested.place), '[]')::text
    FROM unnest(%(blocks)s, %(indexes)s, %(parties)s) WITH ORDINALITY
        AS requested (block_number, transaction_index, party, place)
    JOIN blocks b ON b.number = requested.block_number
    LEFT JOIN LATERAL (
        WITH moved AS MATERIALIZED (
            (
                SELECT x.ordinal, x.token_address, x.token_id, -x.value AS change, x.to_address AS other
                FROM token_transfers x
                WHERE x.from_address = requested.party AND x.to_address <> requested.party
                    AND x.ordinal >= b.token_transfers_before
                    AND x.ordinal < b.token_transfers_before + b.token_transfer_count
                    AND x.transaction_index = requested.transaction_index
                ORDER BY x.ordinal LIMIT 65
            )
            UNION ALL
            (
                SELECT x.ordinal, x.token_address, x.token_id, x.value, x.from_address
                FROM token_transfers x
                WHERE x.to_address = requested.party AND x.to_address <> x.from_address
                    AND x.ordinal >= b.token_transfers_before
                    AND x.ordinal < b.token_transfers_before + b.token_transfer_count
                    AND x.transaction_index = requested.transaction_index
                ORDER BY x.ordinal LIMIT 65
            )
        )
        SELECT json_agg(json_build_object(
            'tokenAddress', hex(summed.token_address), 'tokenId', summed.token_id::text,
            'change', summed.change::text, 'counterparty', hex(summed.other)) ORDER BY summed.first) AS of_tokens
        FROM (
            SELECT m.token_address, m.token_id, sum(m.change) AS change, min(m.ordinal) AS first,
                CASE WHEN count(DISTINCT m.other) = 1 THEN (array_agg(m.other))[1] END AS other
            FROM moved m
            WHERE (SELECT count(*) FROM moved) <= 64
            GROUP BY m.token_address, m.token_id
            HAVING sum(m.change) <> 0
            ORDER BY first LIMIT 8
        ) AS summed
    ) AS changes ON true);
