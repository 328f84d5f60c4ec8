-- In DuckDB: the text of rows of blocks.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT make_timestamp(timestamp_s * 1000000)::VARCHAR || '+00' AS timestamp, transactions_before,
    token_transfers_before, dex_trades_before, internal_transfers_before, logs_before,
    traced_before, untraced_before, unproven_before, %(columns)s
FROM blocks
ORDER BY number;
