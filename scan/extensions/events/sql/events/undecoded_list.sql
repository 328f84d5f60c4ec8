-- The newest of the logs that are to be decoded, in a range of blocks.
-- It is planned each time, and looks each log up by itself: by a plan of when the tables were empty, a batch of a
-- million read them whole for each log.
-- params: block_from bigint, block_to bigint, most integer, most_bytes bigint
-- returns: ordinal, by what it is queued, block number, index of the transaction, address, first topic and three more
--   (null: it has fewer), data; together at most so many bytes of data, and one log's
-- index: undecoded_events_pkey, contract_events_pkey, blocks_pkey, logs_pkey
SELECT n.ordinal, n.queued_by, n.block_number, n.transaction_index, n.address, n.topic0, n.topic1, n.topic2, n.topic3,
    coalesce(n.log_data, '')
FROM (
    SELECT e.*, u.queued_by::text, event_data(e) AS log_data,
        sum(octet_length(event_data(e))) OVER (ORDER BY u.ordinal DESC) - octet_length(event_data(e)) AS newer_bytes
    FROM (
        SELECT o.ordinal, o.queued_by FROM undecoded_events o
        WHERE o.ordinal >= first_ordinal_in(%(block_from)s) AND o.ordinal <= last_ordinal_in(%(block_to)s)
        ORDER BY o.ordinal DESC
        LIMIT %(most)s
    ) AS u
    CROSS JOIN LATERAL (SELECT * FROM contract_events c WHERE c.ordinal = u.ordinal OFFSET 0) AS e
) AS n
WHERE coalesce(n.newer_bytes, 0) < %(most_bytes)s
ORDER BY n.ordinal DESC;
