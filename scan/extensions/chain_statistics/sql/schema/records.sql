-- The record of a day. One without blocks, for which `s` is null, counts nothing.
CREATE OR REPLACE FUNCTION daily_stats_record(day date, s daily_stats) RETURNS text
LANGUAGE sql STABLE
RETURN format(
    '{"date":"%s","blocks":%s,"transactions":%s,"failedTransactions":%s,"activeAddresses":%s,'
    '"newAddresses":%s,"contractsCreated":%s,"tokenTransfers":%s,"dexTrades":%s,"gasUsed":"%s",'
    '"fees":"%s","burntFees":"%s"}',
    day, coalesce(s.last_block - s.first_block + 1, 0), coalesce(s.transaction_count, 0),
    coalesce(s.failed_transaction_count, 0), coalesce(s.active_address_count, 0),
    coalesce(s.new_address_count, 0), coalesce(s.created_contract_count, 0),
    coalesce(s.token_transfer_count, 0), coalesce(s.dex_trade_count, 0), coalesce(s.gas_used, 0),
    coalesce(s.fees_wei, 0), coalesce(s.burnt_wei, 0));
