-- Stored events of an owner's approvals before a block, of the newest transactions that the owner sent: contracts of
-- others can emit no event there that the owner did not call for.
-- params: owner bytea, emitters bytea[] null, kept_block bigint, before bigint, transactions integer, limit integer
-- returns: one row: index version, JSON array as of queries/approvals_list_events
-- index: transactions_by_from, blocks_pkey, logs_of_approvals
WITH sent AS MATERIALIZED (
    SELECT t.block_number, t.transaction_index
    FROM transactions t
    WHERE t.from_address = %(owner)s AND t.ordinal >= first_kept_ordinal('transactions', %(kept_block)s::bigint)
        AND t.ordinal < coalesce((SELECT b.transactions_before FROM blocks b WHERE b.number = %(before)s),
            9223372036854775807)
    ORDER BY t.ordinal DESC
    LIMIT %(transactions)s
), own AS MATERIALIZED (
    SELECT l.*
    FROM sent s
    JOIN blocks b ON b.number = s.block_number
    CROSS JOIN LATERAL (
        SELECT o.ordinal, o.block_number, o.log_index, o.transaction_index, o.topic_id,
            o.address, o.topics, substr(o.data, 1, 96) AS data
        FROM logs o
        WHERE substr(o.topics, 13, 20) = %(owner)s AND o.topic_id < 0
            AND o.ordinal >= b.logs_before AND o.ordinal < b.logs_before + b.log_count
            AND o.transaction_index = s.transaction_index
            AND (%(emitters)s::bytea[] IS NULL OR o.address = ANY (%(emitters)s::bytea[]))
        LIMIT %(limit)s -- has each transaction read apart, and not all events of the owner
    ) AS l
    LIMIT %(limit)s
)
SELECT index_version(), json_list((
    SELECT string_agg(format('[%%s,%%s,%%s,%%s,"%%s","%%s","%%s"]', l.block_number, l.log_index,
        l.transaction_index, l.topic_id, hex(l.address), hex(l.topics), hex(l.data)), ','
        ORDER BY l.ordinal DESC)
    FROM own l));
