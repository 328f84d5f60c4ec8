-- In DuckDB: the text of rows of addresses.
-- params: none
-- returns: the table's columns
-- index: none
SELECT bytea_text(address) AS address, first_seen, last_seen, transaction_count, sent_count,
    received_count, transfer_count, transfer_sent_count, transfer_received_count, trade_count,
    item_count, internal_count, internal_sent_count, internal_received_count, log_count,
    coin_sent_count, coin_received_count, withdrawal_count, produced_count, net_wei
FROM addresses;
