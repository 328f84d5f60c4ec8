-- Counts the transfers of blocks already written for their tokens; sign -1 takes them away.
-- A transfer makes the supply stale: not every token emits a mint as one.
-- params: span block_range, sign integer
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: token_transfers_pkey, tokens_pkey
WITH changes AS (
    SELECT address, transfer_count * %(sign)s AS transfer_count
    FROM tokens_changes(%(span)s::block_range)
), counted AS (
    UPDATE tokens k
    SET transfer_count = k.transfer_count + c.transfer_count, supply_block = NULL
    FROM changes c
    WHERE c.address = k.address
    RETURNING k.address, k.transfer_count, c.transfer_count AS added
)
SELECT 'token_transfers_by_token', address, transfer_count - added
FROM counted
WHERE passes_checkpoint(transfer_count - added, transfer_count);
