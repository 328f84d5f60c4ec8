-- After a reorganisation: where the addresses that it touched were last seen before it.
-- A transfer to oneself is found by its sender. On the day that lost blocks, those that it has not seen
-- any more were not active.
-- params: day date null
-- returns: nothing
-- index: addresses_unwound, transactions_by_from, transactions_by_to, transactions_by_contract,
--   transactions_pkey, token_transfers_by_from, token_transfers_by_to, token_transfers_pkey,
--   blocks_by_miner, log_emitters_pkey, internal_transfers_by_from, internal_transfers_by_to,
--   internal_transfers_pkey, withdrawals_of_address, credits_of_address, daily_stats_pkey
WITH restored AS (
    UPDATE addresses a
    SET unwound = false, last_seen = greatest(
        (SELECT t.block_number FROM transactions t WHERE t.ordinal = greatest(
            (SELECT max(t.ordinal) FROM transactions t WHERE t.from_address = a.address),
            (SELECT max(t.ordinal) FROM transactions t WHERE t.to_address = a.address
                AND t.to_address <> t.from_address),
            (SELECT max(t.ordinal) FROM transactions t WHERE t.contract_address = a.address
                AND t.contract_address <> t.from_address))),
        (SELECT x.block_number FROM token_transfers x WHERE x.ordinal = greatest(
            (SELECT max(x.ordinal) FROM token_transfers x WHERE x.from_address = a.address),
            (SELECT max(x.ordinal) FROM token_transfers x WHERE x.to_address = a.address
                AND x.to_address <> x.from_address))),
        (SELECT i.block_number FROM internal_transfers i WHERE i.ordinal = greatest(
            (SELECT max(i.ordinal) FROM internal_transfers i WHERE i.from_address = a.address),
            (SELECT max(i.ordinal) FROM internal_transfers i WHERE i.to_address = a.address
                AND i.to_address <> i.from_address))),
        (SELECT max(w.block_number) FROM withdrawals w WHERE w.address = a.address),
        (SELECT max(c.ordinal) >> 20 FROM credits c WHERE c.address = a.address AND c.type = 0),
        (SELECT max(c.ordinal) >> 20 FROM credits c WHERE c.address = a.address AND c.type = 1),
        (SELECT max(b.number) FROM blocks b WHERE b.miner = a.address),
        (SELECT max(e.block_number) FROM log_emitters e WHERE e.address = a.address))
    WHERE a.unwound
    RETURNING a.last_seen
)
UPDATE daily_stats s
SET active_address_count = s.active_address_count
    - (SELECT count(*) FROM restored r WHERE r.last_seen < s.first_block)
WHERE s.day = %(day)s;
