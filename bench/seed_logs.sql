-- Logs beside what seed.sql has made: the Transfer of each token transfer, and after every fourth of
-- them another event of the same contract: mostly an Approval, else one of 500 rare ones.
INSERT INTO event_topics (topic0)
SELECT sha256(convert_to('event' || n, 'UTF8')) FROM generate_series(0, 500) AS n;

UPDATE chain SET stored_logs = 'all';

INSERT INTO logs (ordinal, block_number, log_index, transaction_index, topic_id, address, topics, data)
SELECT row_number() OVER (ORDER BY block_number, log_index) - 1, block_number, log_index,
    transaction_index, topic_id, token_address, decode(repeat('00', 12), 'hex') || from_address
        || decode(repeat('00', 12), 'hex') || to_address, sha256(int8send(ordinal))
FROM (
    SELECT x.*, 1 AS topic_id FROM token_transfers x
    UNION ALL
    SELECT x.ordinal, x.block_number, x.log_index + 1, x.batch_index, x.transaction_index,
        x.token_address, x.from_address, x.to_address, x.value, x.token_id,
        CASE WHEN x.ordinal % 20 = 0 THEN 3 + x.ordinal / 20 % 499 ELSE 2 END
    FROM token_transfers x
    WHERE x.ordinal % 4 = 0
) AS made
ORDER BY block_number, log_index;

INSERT INTO log_emitters (address, block_number)
SELECT DISTINCT address, block_number FROM logs
ON CONFLICT DO NOTHING;

UPDATE blocks b
SET log_count = c.count, logs_before = c.before
FROM (SELECT block_number, count(*) AS count, min(ordinal) AS before FROM logs GROUP BY block_number) AS c
WHERE c.block_number = b.number;
