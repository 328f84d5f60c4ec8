-- After seed.sql: value moves inside each transaction that succeeded, between the parties of its token
-- transfer, and every block is traced.
INSERT INTO internal_transfers
    (ordinal, block_number, transaction_index, transfer_index, type, from_address, to_address, value)
SELECT row_number() OVER (ORDER BY x.ordinal) - 1, x.block_number, x.transaction_index, 1,
    x.ordinal % 4, x.from_address, x.to_address, x.value
FROM token_transfers x
JOIN transactions t USING (ordinal)
WHERE t.status
ORDER BY x.ordinal;

UPDATE blocks b
SET internal_transfers_before = counted.before, internal_transfer_count = counted.entries,
    traced = true, traced_before = b.number, untraced_before = 0
FROM (
    SELECT block_number, count(*) AS entries, sum(count(*)) OVER (ORDER BY block_number) - count(*)
        AS before
    FROM internal_transfers
    GROUP BY block_number
) AS counted
WHERE counted.block_number = b.number;
