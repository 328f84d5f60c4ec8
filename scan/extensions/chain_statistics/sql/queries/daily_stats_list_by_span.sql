-- Statistics of the chain's days (UTC) by day, week, month or year, oldest first: of the newest `limit` that
-- have blocks in a range of dates, and the totals of the chain up to the end of each.
-- params: span text, date_from date null, date_to date null, limit integer
-- literals: none
-- returns: one row: index version, JSON array of {date, dateTo, isComplete, blocks, transactions, failedTransactions,
--   newAddresses, contractsCreated, tokenTransfers, dexTrades, gasUsed, fees, burntFees, meanFee, meanGasPrice,
--   successRate, totalTransactions, totalContracts, totalGasUsed}; isComplete: the
--   newest block is of a later span; successRate is the share of transactions, from 0 to 1; amounts in wei
-- index: daily_stats_pkey
WITH days AS MATERIALIZED (
    SELECT s.*, s.last_block - s.first_block + 1 AS blocks,
        sum(s.transaction_count) OVER up_to AS total_transactions,
        sum(s.created_contract_count) OVER up_to AS total_contracts,
        sum(s.gas_used) OVER up_to AS total_gas_used
    FROM daily_stats s
    WINDOW up_to AS (ORDER BY s.day)
), spans AS MATERIALIZED (
    SELECT date_trunc(%(span)s, d.day::timestamp)::date AS first, sum(d.blocks) AS blocks,
        sum(d.transaction_count) AS transactions, sum(d.failed_transaction_count) AS failed,
        sum(d.created_contract_count) AS contracts, sum(d.gas_used) AS gas_used, sum(d.fees_wei) AS fees,
        sum(d.new_address_count) AS new_addresses, sum(d.token_transfer_count) AS token_transfers,
        sum(d.dex_trade_count) AS dex_trades, sum(d.burnt_wei) AS burnt_fees,
        max(d.total_transactions) AS total_transactions, max(d.total_contracts) AS total_contracts,
        max(d.total_gas_used) AS total_gas_used
    FROM days d
    WHERE d.day >= coalesce(%(date_from)s, '-infinity') AND d.day <= coalesce(%(date_to)s, 'infinity')
    GROUP BY 1
    ORDER BY 1 DESC
    LIMIT %(limit)s
)
SELECT index_version(), json_list((
    SELECT string_agg(json_build_object(
        'date', p.first,
        'dateTo', (p.first + ('1 ' || %(span)s)::interval - interval '1 day')::date,
        'isComplete', p.first < date_trunc(%(span)s, (SELECT max(s.day) FROM daily_stats s)::timestamp),
        'blocks', p.blocks,
        'transactions', p.transactions,
        'failedTransactions', p.failed,
        'newAddresses', p.new_addresses,
        'contractsCreated', p.contracts,
        'tokenTransfers', p.token_transfers,
        'dexTrades', p.dex_trades,
        'gasUsed', p.gas_used::text,
        'fees', p.fees::text,
        'burntFees', p.burnt_fees::text,
        'meanFee', div(p.fees, greatest(p.transactions, 1))::text,
        'meanGasPrice', div(p.fees, greatest(p.gas_used, 1))::text,
        'successRate', round(1 - p.failed / greatest(p.transactions, 1), 4)::text,
        'totalTransactions', p.total_transactions,
        'totalContracts', p.total_contracts,
        'totalGasUsed', p.total_gas_used::text)::text, ',' ORDER BY p.first)
    FROM spans p));
