-- In DuckDB: blocks with the numbers of rows in them and before them, from counts that the files have.
-- blocks_expected() of sql/schema/expected.sql, which counts rows, is checked against them. A timestamp is
-- in seconds.
-- params: none
-- returns: the columns of the table blocks in DuckDB
-- index: none
WITH transfers AS (
    SELECT block_number, count(*) AS entries FROM token_transfers_files GROUP BY block_number
), trades AS (
    SELECT block_number, count(*) AS entries FROM dex_trades_files GROUP BY block_number
), counted AS (
    SELECT b.* EXCLUDE (token_transfer_count, dex_trade_count, filename, file_row_number),
        coalesce(x.entries, 0) AS token_transfer_count, coalesce(d.entries, 0) AS dex_trade_count
    FROM blocks_files b
    LEFT JOIN transfers x ON x.block_number = b.number
    LEFT JOIN trades d ON d.block_number = b.number
)
SELECT c.*, c.timestamp_s AS timestamp,
    uint256(c.gas_used_0, c.gas_used_1, c.gas_used_2, c.gas_used_3) AS gas_used,
    uint256(c.producer_fees_0, c.producer_fees_1, c.producer_fees_2, c.producer_fees_3) AS producer_fees,
    uint256(c.burnt_fees_0, c.burnt_fees_1, c.burnt_fees_2, c.burnt_fees_3) AS burnt_fees,
    uint256(c.blob_fees_0, c.blob_fees_1, c.blob_fees_2, c.blob_fees_3) AS blob_fees,
    coalesce(sum(c.transaction_count) OVER before, 0)::BIGINT AS transactions_before,
    coalesce(sum(c.token_transfer_count) OVER before, 0)::BIGINT AS token_transfers_before,
    coalesce(sum(c.dex_trade_count) OVER before, 0)::BIGINT AS dex_trades_before,
    coalesce(sum(c.internal_transfer_count) OVER before, 0)::BIGINT AS internal_transfers_before,
    coalesce(sum(c.log_count) OVER before, 0)::BIGINT AS logs_before,
    coalesce(sum((c.traced IS TRUE)::INTEGER) OVER before, 0)::BIGINT AS traced_before,
    coalesce(sum((c.traced IS FALSE)::INTEGER) OVER before, 0)::BIGINT AS untraced_before,
    coalesce(sum((c.unproven IS NOT NULL)::INTEGER) OVER before, 0)::BIGINT AS unproven_before
FROM counted c
WINDOW before AS (ORDER BY c.number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);
