-- Stores the items that the transfers of blocks already written move, with their owners, and counts them
-- for tokens and owners; sign -1 takes the same back, except the rows of items without earlier transfers
-- (token_items_unwind). Everything about an item is looked up by its own keys, as the planner cannot know
-- how many there are.
-- params: span block_range, sign integer
-- literals: sign
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: token_transfers_pkey, token_transfers_by_item, token_items_pkey, addresses_pkey, tokens_pkey,
--   removed_items_pkey, blocks_pkey
WITH changes AS MATERIALIZED (
    SELECT token_address, token_id, first_ordinal, last_ordinal, transfer_count * %(sign)s AS transfers,
        type
    FROM token_items_changes(%(span)s::block_range)
), items AS MATERIALIZED (
    SELECT c.token_address, c.token_id, c.transfers, c.type, c.first_ordinal,
        coalesce(i.transfer_count, 0) AS transfers_before, i.owner AS owner_before,
        item_owner(c.type, CASE WHEN %(sign)s > 0
            THEN (SELECT CASE WHEN is_of_present_life(x.token_address, x.block_number, x.log_index)
                    THEN x.to_address END
                FROM token_transfers x WHERE x.ordinal = c.last_ordinal)
            ELSE coalesce((SELECT CASE WHEN is_of_present_life(x.token_address, x.block_number, x.log_index)
                    THEN x.to_address ELSE zero_address() END
                FROM token_transfers x
                WHERE x.token_address = c.token_address AND x.token_id = c.token_id
                    AND x.ordinal < (%(span)s::block_range).first_transfer
                    AND x.ordinal >= first_kept_ordinal('token_transfers', (SELECT removed_to FROM retention))
                ORDER BY x.ordinal DESC
                LIMIT 1), (SELECT r.last_recipient FROM removed_items r
                JOIN tokens k ON k.address = r.token_address AND k.has_holdings
                WHERE r.token_address = c.token_address AND r.token_id = c.token_id)) END) AS owner
    FROM changes c
    LEFT JOIN LATERAL (
        SELECT t.transfer_count, t.owner
        FROM token_items t
        WHERE t.token_address = c.token_address AND t.first_ordinal = c.first_ordinal
            AND (%(sign)s < 0 OR c.first_ordinal < (%(span)s::block_range).first_transfer) -- else it is new
        LIMIT 1
    ) AS i ON true
), written AS (
    INSERT INTO token_items AS i
        (token_address, first_ordinal, transfer_count, owner, owner_count)
    SELECT token_address, first_ordinal, transfers, owner, CASE WHEN has_amounts(type) THEN 0 END
    FROM items
    ON CONFLICT (token_address, first_ordinal) DO UPDATE SET
        transfer_count = i.transfer_count + EXCLUDED.transfer_count,
        owner = EXCLUDED.owner
), owned AS (
    UPDATE addresses a
    SET item_count = nullif(coalesce(a.item_count, 0) + d.items, 0)
    FROM (
        SELECT owner, sum(items) AS items
        FROM (
            SELECT owner, 1 AS items FROM items
            UNION ALL
            SELECT owner_before, -1 FROM items
        ) AS changes
        WHERE owner IS NOT NULL
        GROUP BY owner
        HAVING sum(items) <> 0
    ) AS d
    WHERE a.address = d.owner
), counted AS (
    UPDATE tokens k
    SET item_count = k.item_count + d.items
    FROM (
        SELECT token_address, count(*) * %(sign)s AS items
        FROM items
        WHERE first_ordinal >= (%(span)s::block_range).first_transfer
        GROUP BY token_address
    ) AS d
    WHERE k.address = d.token_address
    RETURNING k.address, k.item_count, d.items
)
SELECT 'token_items_by_token', address, item_count - items
FROM counted
WHERE passes_checkpoint(item_count - items, item_count)
UNION ALL
SELECT 'token_transfers_by_item', item_key(token_address, token_id), transfers_before
FROM items
WHERE passes_checkpoint(transfers_before, transfers_before + transfers);
