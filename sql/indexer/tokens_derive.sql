-- Counts the transfers of blocks already written for their tokens; sign -1 takes them away.
-- A transfer makes the supply stale: not every token emits a mint as one.
-- params: first_transfer bigint, last_transfer bigint, sign integer
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: token_transfers_pkey, tokens_pkey
WITH deltas AS (
    SELECT token_address, count(*) * %(sign)s AS transfers
    FROM token_transfers
    WHERE ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
    GROUP BY token_address
), counted AS (
    UPDATE tokens k
    SET transfer_count = k.transfer_count + d.transfers, supply_block = NULL
    FROM deltas d
    WHERE k.address = d.token_address
    RETURNING k.address, k.transfer_count, d.transfers
)
SELECT 'token_transfers_by_token', address, transfer_count - transfers
FROM counted
WHERE passes_checkpoint(transfer_count - transfers, transfer_count);
