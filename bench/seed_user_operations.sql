-- After seed.sql: every fourth transaction is a bundle of one user operation, of the account that it
-- called, through one of three entry points; every second one is paid by a paymaster.
INSERT INTO user_operations
    (ordinal, block_number, transaction_index, log_index, first_log_index, hash, entry_point, sender,
    paymaster, bundler, nonce, success, fee, gas_used)
SELECT first_ordinal_in(t.block_number) + t.transaction_index, t.block_number, t.transaction_index,
    t.transaction_index, t.transaction_index, t.hash,
    decode(repeat(CASE WHEN t.ordinal % 16 = 0 THEN '06' WHEN t.ordinal % 8 = 0 THEN '07' ELSE '08' END, 20),
        'hex'),
    t.from_address, CASE WHEN t.ordinal % 8 = 0 THEN decode(repeat('fe', 20), 'hex') END,
    coalesce(t.to_address, t.from_address), t.ordinal, t.status, t.fee, t.gas_used
FROM transactions t
WHERE t.ordinal % 4 = 0
ORDER BY t.ordinal;
