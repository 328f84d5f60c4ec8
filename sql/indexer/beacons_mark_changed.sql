-- Has tokens read again whose beacon has named another implementation in blocks that are written: of each block the first
-- 100, since one beacon may have any number. Others are read within a day.
-- params: span block_range
-- literals: none
-- returns: nothing
-- index: delegated_calls_named, delegated_calls_by_beacon, delegated_calls_pkey, tokens_pkey, contract_changes_pkey
WITH due AS (
    SELECT k.address, e.block_number,
        row_number() OVER (PARTITION BY e.block_number ORDER BY k.block_number, k.address) AS place
    FROM delegated_calls e
    JOIN delegated_calls p ON p.implementation = e.address AND p.selector = '' AND p.block_number < e.block_number
    JOIN tokens k ON k.address = p.address AND k.block_number < e.block_number
    WHERE e.selector = '\x00' AND e.block_number BETWEEN (%(span)s::block_range).first_block AND (%(span)s::block_range).last_block
        AND NOT EXISTS (
            SELECT FROM delegated_calls n
            WHERE n.address = p.address AND n.selector = '' AND n.block_number > p.block_number
                AND n.block_number <= e.block_number)
), stored AS (
    INSERT INTO contract_changes (address, block_number)
    SELECT d.address, d.block_number FROM due d WHERE d.place <= 100
    ON CONFLICT DO NOTHING
    RETURNING address
)
UPDATE tokens k
SET supply_block = NULL, read_block = NULL
WHERE k.address IN (SELECT s.address FROM stored s) AND k.ended_in IS NULL;
