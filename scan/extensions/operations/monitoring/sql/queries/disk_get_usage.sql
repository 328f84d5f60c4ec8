-- The size of the database, and the share of the newest day in all transactions, with which most other rows
-- grow. The day begins with the newest block that is at least 24 hours older than the newest one.
-- params: none
-- returns: one row: size of the database in bytes bigint; the share double precision, null where the chain is
--   younger than a day, or has no transactions
-- index: blocks_pkey
SELECT pg_database_size(current_database()), (
    SELECT (newest.total - older.transactions_before)::double precision / nullif(newest.total, 0)
    FROM (
        SELECT b.transactions_before + b.transaction_count AS total,
            first_block_since(b.timestamp - interval '24 hours' + interval '1 microsecond') - 1 AS day_block
        FROM blocks b
        ORDER BY b.number DESC
        LIMIT 1
    ) AS newest
    JOIN blocks older ON older.number = newest.day_block);
