-- Values that logs show of their transactions and blocks, for the places of these logs.
-- params: blocks bigint[], transaction_indexes integer[]
-- literals: none
-- returns: one row: index version, JSON array in the order asked of {blockHash, seconds, timestamp,
--   hash, toAddress, gasPrice, gasUsed}, with null for a place that is not indexed
-- index: blocks_pkey, transactions_pkey
SELECT index_version(), (
    SELECT json_list(string_agg(coalesce((
        SELECT format(
            '{"blockHash":"%%s","seconds":%%s,"timestamp":"%%s","hash":"%%s","toAddress":%%s,'
            '"gasPrice":"%%s","gasUsed":"%%s"}',
            hex(b.hash), seconds(b.timestamp), iso(b.timestamp), hex(t.hash), json_hex(t.to_address),
            t.gas_price, t.gas_used)
        FROM blocks b
        JOIN transactions t ON t.ordinal = b.transactions_before + requested.transaction_index
            AND t.block_number = b.number
        WHERE b.number = requested.block_number), 'null'), ',' ORDER BY requested.position))
    FROM unnest(%(blocks)s::bigint[], %(transaction_indexes)s::integer[]) WITH ORDINALITY
        AS requested (block_number, transaction_index, position));
