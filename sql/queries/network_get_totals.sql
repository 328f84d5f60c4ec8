-- What the chain has in all, and of its newest day, as daily statistics count it.
-- params: none
-- literals: none
-- returns: one row: index version, JSON text {blocks, transactions, addresses, contracts, verifiedContracts,
--   newVerifiedContracts, gasUsed, today: {transactions, gasUsed, fees}}; newVerifiedContracts are of 24 hours
-- index: blocks_pkey, daily_stats_pkey, verified_contracts_listed
SELECT index_version(), json_build_object(
    'blocks', (SELECT max(b.number) - min(b.number) + 1 FROM blocks b),
    'transactions', (
        SELECT b.transactions_before + b.transaction_count FROM blocks b ORDER BY b.number DESC LIMIT 1),
    'addresses', sum(s.new_address_count),
    'contracts', sum(s.created_contract_count),
    'verifiedContracts', (SELECT count(*) FROM verified_contracts v WHERE v.is_indexed),
    'newVerifiedContracts', (
        SELECT count(*) FROM verified_contracts v
        WHERE v.is_indexed AND v.verified_at > now() - interval '1 day'),
    'gasUsed', coalesce(sum(s.gas_used), 0)::text,
    'today', (
        SELECT json_build_object('day', d.day, 'transactions', d.transaction_count, 'gasUsed', d.gas_used::text,
            'fees', d.fees_wei::text)
        FROM daily_stats d ORDER BY d.day DESC LIMIT 1))::text
FROM daily_stats s;
