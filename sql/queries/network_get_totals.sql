-- Totals of the chain and numbers of its newest day, as daily statistics count them.
-- params: none
-- literals: none
-- returns: one row: index version, JSON text {blocks, transactions, addresses, contracts, verifiedContracts,
--   newVerifiedContracts, gasUsed, blockTimeMs, utilization, today}; newVerifiedContracts are of 24 hours,
--   blockTimeMs and utilization (percent of the gas limit) of the newest 100 blocks, today is {day,
--   transactions, gasUsed, fees, meanFee} of the newest day (null: none)
-- index: blocks_pkey, daily_stats_pkey, verified_contracts_listed
SELECT index_version(), json_build_object(
    'blocks', coalesce(max(b.newest) - (SELECT min(o.number) FROM blocks o) + 1, 0),
    'transactions', coalesce(max(b.transactions), 0),
    'addresses', sum(s.new_address_count),
    'contracts', sum(s.created_contract_count),
    'verifiedContracts', (
        SELECT count(*) FROM verified_contracts v WHERE v.is_indexed AND v.match <> 'runtime'),
    'newVerifiedContracts', (SELECT count(*) FROM verified_contracts v
        WHERE v.is_indexed AND v.match <> 'runtime' AND v.verified_at > now() - interval '1 day'),
    'gasUsed', coalesce(sum(s.gas_used), 0)::text,
    'blockTimeMs', coalesce(max(b.block_time_ms), 0),
    'utilization', max(b.utilization),
    'today', (
        SELECT json_build_object('day', d.day, 'transactions', d.transaction_count,
            'gasUsed', d.gas_used::text, 'fees', d.fees_wei::text,
            'meanFee', div(d.fees_wei, greatest(d.transaction_count, 1))::text)
        FROM daily_stats d ORDER BY d.day DESC LIMIT 1))::text
FROM (
    SELECT max(n.number) AS newest, max(n.transactions_before + n.transaction_count) AS transactions,
        round(block_interval_s() * 1000, 1) AS block_time_ms,
        round(sum(n.gas_used) / nullif(sum(n.gas_limit), 0) * 100, 4) AS utilization
    FROM (
        SELECT r.number, r.transactions_before, r.transaction_count, r.gas_used, r.gas_limit
        FROM blocks r ORDER BY r.number DESC LIMIT 100) AS n
) AS b
LEFT JOIN daily_stats s ON true;
