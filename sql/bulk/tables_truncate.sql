-- Empties all that a bulk backfill writes before its last stage; event_topics stay, with their numbers.
-- params: none
-- returns: nothing
-- index: none
TRUNCATE transactions, token_transfers, internal_transfers, dex_trades, logs, withdrawals,
    credits, uncles, blobs, execution_requests, user_operations, messages_to_l1, log_emitters, codes, contracts, tokens, pools, rejected_emitters, dexes, token_holders,
    token_holder_ranges, token_items, item_balances, addresses, list_counts, list_checkpoints, pool_candles,
    authorizations;
