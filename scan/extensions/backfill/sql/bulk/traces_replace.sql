-- Replaces the rows of the filled blocks that follow from traces. Creations by contracts are sights of their
-- code: as the indexer does, code is kept where it was created anew, or first seen, and its end. Tokens
-- that were created have their texts' ages found again, which count from there.
-- params: none
-- returns: nothing
-- index: internal_transfers_pkey, credits_pkey, contract_creations_pkey, contract_creations_by_address,
--   log_emitters_pkey, delegated_calls_pkey, tokens_pkey, contracts_pkey, blocks_pkey,
--   transactions_pkey
DO $$
DECLARE
    first_ordinal bigint := (SELECT min(b.internal_transfers_before)
        FROM filled_blocks f
        JOIN blocks b ON b.number = f.block_number);
BEGIN
    DELETE FROM internal_transfers WHERE ordinal >= first_ordinal;
    INSERT INTO internal_transfers (ordinal, block_number, transaction_index, transfer_index, type,
        from_address, to_address, value)
    SELECT first_ordinal - 1
            + row_number() OVER (ORDER BY n.block_number, n.transaction_index, n.transfer_index),
        n.block_number, n.transaction_index, n.transfer_index, n.type, n.from_address, n.to_address,
        n.value
    FROM new_internal_transfers n;
    DELETE FROM credits c
    USING filled_blocks f
    WHERE c.ordinal BETWEEN first_ordinal_in(f.block_number) AND last_ordinal_in(f.block_number);
    INSERT INTO credits (ordinal, block_number, transaction_index, type, address, amount_wei)
    SELECT ordinal, block_number, transaction_index, type, address, amount_wei FROM new_credits;
    DELETE FROM contract_creations c
    USING filled_blocks f
    WHERE c.ordinal BETWEEN first_ordinal_in(f.block_number) AND last_ordinal_in(f.block_number);
    INSERT INTO contract_creations (ordinal, block_number, transaction_index, address, creator, factory)
    SELECT ordinal, block_number, transaction_index, address, creator, factory
    FROM new_contract_creations;
    UPDATE tokens SET dated = NULL WHERE address IN (SELECT address FROM new_contract_creations);
    INSERT INTO log_emitters (address, block_number)
    SELECT address, block_number FROM new_log_emitters
    ON CONFLICT DO NOTHING;
    -- Rows of later blocks that change nothing any more.
    DELETE FROM delegated_calls d
    USING (
        SELECT c.address, c.selector, c.block_number,
            lag(c.implementation) OVER calls IS NOT DISTINCT FROM c.implementation AS is_known
        FROM delegated_calls c
        WINDOW calls AS (PARTITION BY c.address, c.selector ORDER BY c.block_number)) AS c
    WHERE c.is_known AND d.address = c.address AND d.selector = c.selector AND d.block_number = c.block_number;
    CREATE TEMPORARY TABLE kept_contracts ON COMMIT DROP AS
        SELECT k.address, k.block_number, k.code_hash
        FROM (
            SELECT s.*, lag(s.code_hash) OVER sights AS before
            FROM (
                SELECT c.*, row_number() OVER (PARTITION BY c.address ORDER BY c.block_number) = 1
                        AS is_first,
                    EXISTS (SELECT FROM contract_creations n
                        WHERE n.address = c.address AND n.block_number = c.block_number) AS is_created
                FROM (
                    SELECT address, block_number, code_hash
                    FROM contracts
                    WHERE address IN (SELECT address FROM new_contracts)
                    UNION
                    SELECT address, block_number, code_hash FROM new_contracts
                ) AS c
            ) AS s
            WHERE s.is_first OR s.is_created OR s.code_hash IS NULL
            WINDOW sights AS (PARTITION BY s.address ORDER BY s.block_number)
        ) AS k
        WHERE k.before IS DISTINCT FROM k.code_hash OR (k.is_created AND k.code_hash IS NOT NULL);
    DELETE FROM contracts WHERE address IN (SELECT address FROM new_contracts);
    INSERT INTO contracts (address, block_number, code_hash)
    SELECT address, block_number, code_hash FROM kept_contracts;
    DELETE FROM codes o
    WHERE NOT EXISTS (SELECT FROM contracts c WHERE c.code_hash = o.code_hash);
    UPDATE transactions t
    SET traced = NULL
    FROM filled_blocks f
    JOIN blocks b ON b.number = f.block_number
    WHERE t.ordinal BETWEEN b.transactions_before AND b.transactions_before + b.transaction_count - 1
        AND t.traced;
    UPDATE blocks b SET traced = true FROM filled_blocks f WHERE b.number = f.block_number;
END
$$;
