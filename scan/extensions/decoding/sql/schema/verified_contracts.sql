-- When code ran at an address.

-- contracts_between() with the transaction in its first block from which on each stood: what created it, unless
-- another stood until then. The planner inlines it.
CREATE OR REPLACE FUNCTION contract_spans(at bytea, first bigint, last bigint)
RETURNS TABLE (code_hash bytea, first_block bigint, first_index integer, last_block bigint)
LANGUAGE sql STABLE AS $$
    SELECT c.code_hash, c.first_block, CASE WHEN (
            SELECT o.code_hash
            FROM contracts o
            WHERE o.address = at AND o.block_number < c.first_block
            ORDER BY o.block_number DESC
            LIMIT 1) IS NULL
        THEN coalesce((SELECT n.transaction_index FROM creation_in(at, c.first_block) AS n), 0) ELSE 0 END,
        c.last_block
    FROM contracts_between(at, first, last) AS c
$$;

-- Whether code may have run in a transaction at an address that has none after its block: what was created in
-- the block before, or emitted a log in it. The planner inlines it.
CREATE OR REPLACE FUNCTION passing_code(at bytea, block bigint, index integer) RETURNS TABLE (may_have_run boolean)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT n.transaction_index <= index FROM creation_in(at, block) AS n),
        EXISTS (SELECT FROM log_emitters e WHERE e.address = at AND e.block_number = block))
$$;
