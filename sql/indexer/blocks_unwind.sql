-- Deletes all rows of the blocks after one; what is derived from them is unwound before.
-- params: last_kept bigint, first_transaction bigint, last_transaction bigint,
--   first_transfer bigint, last_transfer bigint, first_trade bigint, last_trade bigint,
--   first_internal bigint, last_internal bigint, first_log bigint, last_log bigint
-- returns: nothing
-- index: transactions_pkey, token_transfers_pkey, dex_trades_pkey, internal_transfers_pkey, logs_pkey,
--   withdrawals_pkey, credits_pkey, uncles_pkey, user_operations_pkey, authorizations_pkey, blocks_pkey,
--   messages_to_l1_pkey, execution_requests_pkey, blobs_pkey, tokens_by_block,
--   log_emitters_by_block, pools_by_block, rejected_emitters_by_block, contracts_by_block,
--   contracts_by_code_hash, codes_pkey, list_checkpoints_by_block, addresses_by_balance_block
WITH lost_transactions AS (
    DELETE FROM transactions
    WHERE ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
), lost_transfers AS (
    DELETE FROM token_transfers
    WHERE ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
), lost_trades AS (
    DELETE FROM dex_trades
    WHERE ordinal BETWEEN %(first_trade)s AND %(last_trade)s
), lost_internal_transfers AS (
    DELETE FROM internal_transfers
    WHERE ordinal BETWEEN %(first_internal)s AND %(last_internal)s
), lost_withdrawals AS (
    DELETE FROM withdrawals WHERE block_number > %(last_kept)s
), lost_credits AS (
    DELETE FROM credits WHERE ordinal >= first_ordinal_in(%(last_kept)s + 1)
), lost_user_operations AS (
    DELETE FROM user_operations WHERE ordinal >= first_ordinal_in(%(last_kept)s + 1)
), lost_blobs AS (
    DELETE FROM blobs WHERE ordinal >= first_ordinal_in(%(last_kept)s + 1)
), lost_execution_requests AS (
    DELETE FROM execution_requests WHERE ordinal >= first_ordinal_in(%(last_kept)s + 1)
), lost_uncles AS (
    DELETE FROM uncles WHERE ordinal >= first_ordinal_in(%(last_kept)s + 1)
), lost_authorizations AS (
    DELETE FROM authorizations WHERE ordinal >= first_ordinal_in(%(last_kept)s + 1)
), lost_messages AS (
    DELETE FROM messages_to_l1 WHERE ordinal >= first_ordinal_in(%(last_kept)s + 1)
), lost_logs AS (
    DELETE FROM logs WHERE ordinal BETWEEN %(first_log)s AND %(last_log)s
), lost_emitters AS (
    DELETE FROM log_emitters WHERE block_number > %(last_kept)s
), lost_pools AS (
    DELETE FROM pools WHERE block_number > %(last_kept)s
), lost_rejections AS (
    DELETE FROM rejected_emitters WHERE block_number > %(last_kept)s
), lost_checkpoints AS (
    DELETE FROM list_checkpoints WHERE block_number > %(last_kept)s
), lost_dexes AS (
    DELETE FROM dexes WHERE trade_count = 0
), lost_contracts AS (
    DELETE FROM contracts WHERE block_number > %(last_kept)s RETURNING code_hash
), lost_codes AS (
    DELETE FROM codes o
    WHERE o.code_hash IN (SELECT code_hash FROM lost_contracts)
        AND NOT EXISTS (SELECT 1 FROM contracts c
            WHERE c.code_hash = o.code_hash AND c.block_number <= %(last_kept)s)
), stale_balances AS (
    -- Also of addresses without a row in these blocks: contracts pay without a transaction.
    UPDATE addresses SET balance_block = NULL WHERE balance_block > %(last_kept)s
), lost_tokens AS (
    DELETE FROM tokens WHERE block_number > %(last_kept)s RETURNING 1
), recount AS (
    UPDATE chain SET token_count = token_count - (SELECT count(*) FROM lost_tokens)
)
DELETE FROM blocks WHERE number > %(last_kept)s;
