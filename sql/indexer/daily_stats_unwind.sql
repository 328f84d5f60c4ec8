-- Takes back what the blocks after one count for their days, while their rows are still there; addresses
-- follow with indexer/addresses_forget and indexer/addresses_restore_last_seen. All blocks after it are of
-- one day.
-- params: last_kept bigint, span block_range
-- returns: the day (text: it may be beyond calendars), where earlier blocks of it stay; else no row
-- index: daily_stats_first_block_key, daily_stats_pkey, blocks_pkey, transactions_pkey, internal_transfers_pkey
WITH lost AS (
    DELETE FROM daily_stats WHERE first_block > %(last_kept)s
)
UPDATE daily_stats s
SET last_block = %(last_kept)s,
    transaction_count = s.transaction_count - t.transaction_count,
    failed_transaction_count = s.failed_transaction_count - t.failed_transaction_count,
    created_contract_count = s.created_contract_count - t.created_contract_count,
    token_transfer_count = s.token_transfer_count - t.token_transfer_count,
    dex_trade_count = s.dex_trade_count - t.dex_trade_count,
    gas_used = s.gas_used - t.gas_used,
    fees_wei = s.fees_wei - t.fees_wei,
    burnt_wei = s.burnt_wei - t.burnt_wei
FROM (
    SELECT sum(transaction_count) AS transaction_count,
        sum(failed_transaction_count) AS failed_transaction_count,
        sum(created_contract_count) AS created_contract_count,
        sum(token_transfer_count) AS token_transfer_count,
        sum(dex_trade_count) AS dex_trade_count, sum(gas_used) AS gas_used,
        sum(fees_wei) AS fees_wei, sum(burnt_wei) AS burnt_wei
    FROM daily_stats_changes(%(span)s::block_range)
) AS t
WHERE s.day = day_of_block(%(last_kept)s) AND s.last_block > %(last_kept)s
RETURNING s.day::text;
