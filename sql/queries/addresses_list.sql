-- Balances and counters of addresses, including those never seen.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON array in the order asked of {address, balance, balanceBlock,
--   txCount, isContract, delegate}, number and hash of the newest block (null where none is indexed), the newest
--   block that stored balances must not be older than to be those of the newest block
-- index: addresses_pkey, contracts_pkey, blocks_pkey, blocks_untraced, authorizations_in_effect
SELECT index_version(),
    (SELECT json_list(string_agg(format(
        '{"address":"%%s","balance":%%s,"balanceBlock":%%s,"txCount":%%s,"isContract":%%s,'
        '"delegate":%%s}',
        hex(requested.address), json_text(a.balance::text), coalesce(a.balance_block::text, 'null'),
        coalesce(a.transaction_count, 0),
        EXISTS (SELECT 1 FROM contracts c WHERE c.address = requested.address)::text,
        json_hex(delegate_of(requested.address, 9223372036854775807))), ','
        ORDER BY requested.position))
    FROM unnest(%(addresses)s::bytea[]) WITH ORDINALITY AS requested (address, position)
    LEFT JOIN addresses a ON a.address = requested.address),
    head.number,
    head.hash,
    newest_untraced_block()
FROM (SELECT 1) AS always
LEFT JOIN (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS head ON true;
