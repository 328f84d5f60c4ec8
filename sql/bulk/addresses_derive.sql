-- In DuckDB: every address seen.
-- params: none
-- returns: what the table addresses of DuckDB is made of
-- index: none
SELECT a.address, a.first_seen, a.last_seen, a.transaction_count, a.sent_count, a.received_count,
    a.transfer_count, a.transfer_sent_count, a.transfer_received_count, a.trade_count,
    a.internal_count, a.internal_sent_count, a.internal_received_count, a.log_count,
    a.coin_sent_count, a.coin_received_count, a.withdrawal_count, a.produced_count, a.net_wei,
    a.item_count
FROM addresses_expected() a
WHERE in_bucket(a.address);
