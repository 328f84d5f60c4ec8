-- The number of transactions in the index and on its newest day, with which most other rows grow. The day
-- begins after day_block, the newest block that is at least 24 hours older than the newest one.
-- params: day_block bigint
-- returns: one row: transactions bigint, transactions after day_block bigint; null without blocks
-- index: blocks_pkey
SELECT
    newest.transactions_before + newest.transaction_count,
    newest.transactions_before + newest.transaction_count - older.transactions_before
FROM (SELECT b.* FROM blocks b ORDER BY b.number DESC LIMIT 1) AS newest
JOIN blocks AS older ON older.number = %(day_block)s;
