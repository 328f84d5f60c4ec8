-- Addresses whose counters, or first or last block, are not what the rows give.
-- params: most integer
-- returns: address, what is stored or null, what is expected or null (jsonb), how many there are
-- index: none
SELECT hex(address), stored, expected, count(*) OVER ()
FROM (
    SELECT address, to_jsonb(a) - 'address' - 'balance' - 'balance_block' - 'unwound'
        - 'log_count' AS stored,
        to_jsonb(e) - 'address' AS expected
    FROM addresses a
    FULL JOIN expected_addresses e USING (address)
    WHERE (a.first_seen, a.last_seen, a.transaction_count, a.sent_count, a.received_count,
        a.transfer_count, a.transfer_sent_count, a.transfer_received_count, a.trade_count,
        a.item_count, a.internal_count, a.internal_sent_count, a.internal_received_count,
        a.coin_sent_count, a.coin_received_count, a.withdrawal_count, a.produced_count, a.net_wei)
    IS DISTINCT FROM (e.first_seen, e.last_seen, e.transaction_count, e.sent_count,
        e.received_count, e.transfer_count, e.transfer_sent_count, e.transfer_received_count,
        e.trade_count, e.item_count, e.internal_count, e.internal_sent_count,
        e.internal_received_count, e.coin_sent_count, e.coin_received_count, e.withdrawal_count,
        e.produced_count, e.net_wei)
) AS compared
ORDER BY address
LIMIT %(most)s;
