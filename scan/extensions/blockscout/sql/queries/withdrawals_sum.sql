-- The sum of the chain's withdrawals in wei. It reads them all.
-- params: none
-- literals: none
-- returns: one row: index version, the sum as text, null where not all of them are stored
-- index: withdrawals_pkey
SELECT index_version(),
    CASE WHEN count(*) = coalesce(max(w.withdrawal_index) + 1, 0)
        THEN coalesce(sum(w.amount_wei) FILTER (WHERE w.unit IS NULL), 0)::text END
FROM withdrawals w;
