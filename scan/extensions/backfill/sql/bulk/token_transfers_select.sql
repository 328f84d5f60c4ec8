-- In DuckDB: token transfers among the candidates of a file, in the chain's order. The words of an event
-- are read as amounts() of scan/ethereum/events.py reads them.
-- params: file text
-- returns: columns of token_transfers in parquet.py of exports
-- index: none
SELECT e.block_number, e.transaction_index, e.log_index, e.token_address, e.from_address,
    CASE WHEN is_turned THEN unhex(lpad(to_hex(e.id_2), 8, '0') || lpad(to_hex(e.id_1), 16, '0') || lpad(to_hex(e.id_0), 16, '0'))
        ELSE e.to_address END AS to_address, nullif(e.batch_index, 0) AS batch_index,
    CASE WHEN is_single THEN 1 ELSE e.amount_0 END AS value_0,
    CASE WHEN is_single THEN 0 ELSE e.amount_1 END AS value_1,
    CASE WHEN is_single THEN 0 ELSE e.amount_2 END AS value_2,
    CASE WHEN is_single THEN 0 ELSE e.amount_3 END AS value_3,
    CASE WHEN is_turned THEN ('0x' || hex(e.to_address)[25:40])::ubigint WHEN has_id THEN e.id_0 END AS token_id_0,
    CASE WHEN is_turned THEN ('0x' || hex(e.to_address)[9:24])::ubigint WHEN has_id THEN e.id_1 END AS token_id_1,
    CASE WHEN is_turned THEN ('0x' || hex(e.to_address)[1:8])::ubigint WHEN has_id THEN e.id_2 END AS token_id_2,
    CASE WHEN has_id THEN e.id_3 END AS token_id_3
FROM (
    SELECT c.*,
        c.shape <> 'range' AND (
            k.type = 'BEP721' OR (k.item_type = 'BEP721' AND c.shape IN ('id', 'face id', 'items'))) AS is_single,
        is_single OR c.shape IN ('multi', 'of id') AS has_id,
        c.shape = 'amount' AND k.type = 'BEP721' AND coalesce(k.item_type = 'BEP721', false) AS is_turned
    FROM read_parquet(%(file)s) c
    JOIN indexed_tokens k ON k.address = c.token_address
    WHERE (c.block_number, c.log_index) >= (k.block_number, k.log_index)
        AND coalesce(c.block_number < k.end_block, true)
        AND CASE c.shape
            WHEN 'multi' THEN 'BEP1155' IN (k.type, k.item_type)
            WHEN 'of id' THEN 'BEP6909' IN (k.type, k.item_type)
            WHEN 'face amount' THEN (k.type, k.item_type) = ('BEP20', 'BEP721')
            WHEN 'face id' THEN (k.type, k.item_type) = ('BEP20', 'BEP721')
            WHEN 'range' THEN k.type = 'BEP721'
            WHEN 'items' THEN 'BEP721' IN (k.type, k.item_type)
            ELSE k.type IN ('BEP20', 'BEP721') END
        AND NOT (is_turned AND (c.id_3 > 0 OR c.id_2 >= 4294967296)) -- of no recipient
        AND (c.shape NOT IN ('wrap', 'unwrap') OR coalesce(c.block_number >= k.wraps_since, false))
) AS e
ORDER BY e.block_number, e.log_index, e.batch_index;
