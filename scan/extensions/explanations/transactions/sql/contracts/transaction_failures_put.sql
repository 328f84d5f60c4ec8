-- Stores the reason for which a transaction of a block failed, in the place of one stored for another
-- block, and deletes the reasons that were stored longest ago.
-- params: transaction_hash bytea, block_hash bytea, kind text, words text, returned bytea,
--   data_size integer, type text, trace_address integer[], selector bytea, code_addresses bytea[],
--   address bytea null, kept bigint
-- returns: nothing
-- index: transaction_failures_pkey, transaction_failures_by_number
WITH put AS (
    INSERT INTO transaction_failures AS f (
        transaction_hash, block_hash, kind, words, data, data_size, type, trace_address, selector,
        code_addresses, address)
    VALUES (
        %(transaction_hash)s, %(block_hash)s, %(kind)s, %(words)s, %(returned)s, %(data_size)s,
        %(type)s, %(trace_address)s::integer[], %(selector)s, %(code_addresses)s::bytea[],
        %(address)s)
    ON CONFLICT (transaction_hash) DO UPDATE
    SET number = excluded.number, block_hash = excluded.block_hash, kind = excluded.kind,
        words = excluded.words, data = excluded.data, data_size = excluded.data_size,
        type = excluded.type, trace_address = excluded.trace_address,
        selector = excluded.selector, code_addresses = excluded.code_addresses,
        address = excluded.address
    WHERE f.block_hash <> excluded.block_hash
    RETURNING f.number
)
DELETE FROM transaction_failures
WHERE number <= (SELECT put.number FROM put) - %(kept)s;
