-- The items with an id of the tokens whose symbol or name begins with a text: at most 10, those of the
-- exact name first, each by number of holders.
-- params: text text, token_id numeric
-- literals: none
-- returns: one row: index version, JSON text of the records
-- index: tokens_by_symbol, tokens_by_name, tokens_pkey, token_transfers_by_item, removed_items_pkey,
--   blocks_pkey, addresses_pkey, contracts_pkey, verified_contracts_by_code_hash, pools_pkey
WITH named AS (
    (SELECT k.address
    FROM tokens k
    WHERE lower(k.symbol) ~>=~ lower(%(text)s)
        AND lower(k.symbol) ~<~ (lower(%(text)s) || chr(1114111))
    ORDER BY lower(k.symbol) USING ~<~
    LIMIT 200)
    UNION
    (SELECT k.address
    FROM tokens k
    WHERE lower(k.name) ~>=~ lower(%(text)s)
        AND lower(k.name) ~<~ (lower(%(text)s) || chr(1114111))
    ORDER BY lower(k.name) USING ~<~
    LIMIT 200)
), best AS (
    SELECT k AS token, lower(%(text)s) IN (lower(k.name), lower(k.symbol)) AS is_exact
    FROM named
    JOIN tokens k ON k.address = named.address
    WHERE (k.type <> 'BEP20' OR k.item_type IS NOT NULL) AND first_transfer_of(k.address, %(token_id)s) IS NOT NULL
    ORDER BY is_exact DESC, counted_holders(k) DESC, k.address DESC
    LIMIT 10
)
SELECT index_version(), json_list(string_agg(
    search_record('item', hex((token).address) || '/' || %(token_id)s,
        coalesce(nullif((token).name, ''), (token).symbol) || ' #' || %(token_id)s, (token).symbol,
        CASE WHEN is_exact THEN 'exact' ELSE 'prefix' END, counted_holders(token),
        (SELECT seen_at FROM first_seen_at((token).address, (token).block_number)),
        EXISTS (SELECT FROM verification_of((token).address) WHERE match <> 'runtime'),
        (SELECT n.record FROM namesake_of(token) AS n))::text,
    ',' ORDER BY is_exact DESC, counted_holders(token) DESC, (token).address DESC))
FROM best;
