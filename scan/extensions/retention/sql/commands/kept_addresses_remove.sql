-- Keeps no more rows of addresses. Their lists begin later, as others do; the rows that were kept stay in their
-- partitions.
-- params: addresses bytea[]
-- returns: nothing
-- index: kept_addresses_pkey, list_checkpoints_pkey
WITH shortened AS (
    DELETE FROM list_checkpoints c
    USING kept_addresses k, retention r
    WHERE k.address = ANY (%(addresses)s::bytea[]) AND c.key = k.address AND c.block_number < r.removed_to AND c.list <> 'token_items_by_token'
)
DELETE FROM kept_addresses WHERE address = ANY (%(addresses)s::bytea[]);
