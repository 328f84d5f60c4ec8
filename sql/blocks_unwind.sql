-- Takes back all rows of the blocks after one; what is derived from them is taken back before.
-- params: last_kept bigint
-- returns: nothing
-- index: the primary keys, and the *_by_block BRINs
WITH lost_transactions AS (
    DELETE FROM transactions WHERE block_number > %(last_kept)s
), lost_transfers AS (
    DELETE FROM token_transfers WHERE block_number > %(last_kept)s
), lost_trades AS (
    DELETE FROM dex_trades WHERE block_number > %(last_kept)s
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
), stale_tokens AS (
    UPDATE tokens SET supply_block = NULL
    WHERE supply_block > %(last_kept)s AND block_number <= %(last_kept)s
), lost_tokens AS (
    DELETE FROM tokens WHERE block_number > %(last_kept)s RETURNING 1
), recount AS (
    UPDATE chain SET token_count = token_count - (SELECT count(*) FROM lost_tokens)
)
DELETE FROM blocks WHERE number > %(last_kept)s;
