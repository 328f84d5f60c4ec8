-- Makes addresses what the rows give; balances stay.
-- params: none
-- returns: nothing
-- index: addresses_pkey
WITH unseen AS (
    DELETE FROM addresses a
    WHERE NOT EXISTS (SELECT FROM expected_addresses e WHERE e.address = a.address)
)
INSERT INTO addresses AS a (address, first_seen, last_seen, transaction_count, sent_count,
    received_count, transfer_count, transfer_sent_count, transfer_received_count, trade_count,
    item_count, internal_count, internal_sent_count, internal_received_count,
    coin_sent_count, coin_received_count, withdrawal_count, produced_count, net_wei)
SELECT address, first_seen, last_seen, transaction_count, sent_count, received_count,
    transfer_count, transfer_sent_count, transfer_received_count, trade_count,
    item_count, internal_count, internal_sent_count, internal_received_count,
    coin_sent_count, coin_received_count, withdrawal_count, produced_count, net_wei
FROM expected_addresses
ON CONFLICT (address) DO UPDATE SET
    first_seen = EXCLUDED.first_seen,
    last_seen = EXCLUDED.last_seen,
    transaction_count = EXCLUDED.transaction_count,
    sent_count = EXCLUDED.sent_count,
    received_count = EXCLUDED.received_count,
    transfer_count = EXCLUDED.transfer_count,
    transfer_sent_count = EXCLUDED.transfer_sent_count,
    transfer_received_count = EXCLUDED.transfer_received_count,
    trade_count = EXCLUDED.trade_count,
    item_count = EXCLUDED.item_count,
    internal_count = EXCLUDED.internal_count,
    internal_sent_count = EXCLUDED.internal_sent_count,
    internal_received_count = EXCLUDED.internal_received_count,
    coin_sent_count = EXCLUDED.coin_sent_count,
    coin_received_count = EXCLUDED.coin_received_count,
    withdrawal_count = EXCLUDED.withdrawal_count,
    produced_count = EXCLUDED.produced_count,
    net_wei = EXCLUDED.net_wei,
    unwound = false
WHERE (a.first_seen, a.last_seen, a.transaction_count, a.sent_count, a.received_count,
    a.transfer_count, a.transfer_sent_count, a.transfer_received_count, a.trade_count,
    a.item_count, a.internal_count, a.internal_sent_count, a.internal_received_count,
    a.coin_sent_count, a.coin_received_count, a.withdrawal_count, a.produced_count, a.net_wei)
IS DISTINCT FROM (EXCLUDED.first_seen, EXCLUDED.last_seen, EXCLUDED.transaction_count,
    EXCLUDED.sent_count, EXCLUDED.received_count, EXCLUDED.transfer_count,
    EXCLUDED.transfer_sent_count, EXCLUDED.transfer_received_count, EXCLUDED.trade_count,
    EXCLUDED.item_count, EXCLUDED.internal_count, EXCLUDED.internal_sent_count,
    EXCLUDED.internal_received_count, EXCLUDED.coin_sent_count, EXCLUDED.coin_received_count,
    EXCLUDED.withdrawal_count, EXCLUDED.produced_count, EXCLUDED.net_wei);
