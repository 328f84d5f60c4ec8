-- The numbers of rows of the lists of an address, some of them counted only up to `most`.
-- params: address bytea, most integer
-- literals: none
-- returns: one row: index version, JSON text {transactions, tokenTransfers, internalTransfers, logs, withdrawals,
--   tokens, blocks, gasUsed}; tokens and blocks are at most `most` + 1; gasUsed is that of the transactions to a
--   contract, else of those sent, null where they are more; logs are those that are stored
-- index: addresses_pkey, token_holders_pkey, blocks_by_miner, transactions_by_from, transactions_by_to,
--   transactions_to_self, contracts_pkey, blocks_pkey, kept_addresses_pkey
SELECT index_version(), json_build_object(
    'transactions', coalesce(a.transaction_count, 0),
    'tokenTransfers', coalesce(a.transfer_count, 0),
    'internalTransfers', coalesce(a.internal_count, 0),
    'logs', coalesce(a.log_count, 0),
    'withdrawals', coalesce(a.withdrawal_count, 0),
    'tokens', (
        SELECT count(*)
        FROM (SELECT FROM token_holders h WHERE h.holder = %(address)s AND h.balance > 0
            LIMIT %(most)s + 1) AS held),
    'blocks', (
        SELECT count(*)
        FROM (SELECT FROM blocks b WHERE b.miner = %(address)s LIMIT %(most)s + 1) AS produced),
    'gasUsed', CASE WHEN contract.is_called AND a.received_count <= %(most)s THEN (
            SELECT sum(t.gas_used)
            FROM (
                SELECT t.gas_used FROM transactions t
                WHERE t.to_address = %(address)s AND t.to_address <> t.from_address AND t.ordinal >= kept.first
                UNION ALL
                SELECT t.gas_used FROM transactions t
                WHERE t.to_address = %(address)s AND t.to_address IS NOT DISTINCT FROM t.from_address AND t.ordinal >= kept.first
            ) AS t)
        WHEN NOT contract.is_called AND coalesce(a.sent_count, 0) <= %(most)s THEN coalesce((
            SELECT sum(t.gas_used) FROM transactions t
            WHERE t.from_address = %(address)s AND t.ordinal >= kept.first), 0) END::text)::text
FROM (SELECT first_kept_ordinal('transactions', %(address)s) AS first) AS kept
LEFT JOIN addresses a ON a.address = %(address)s
CROSS JOIN LATERAL (
    SELECT coalesce(a.received_count, 0) > 0 AND EXISTS (
        SELECT FROM contract_at(%(address)s) AS c WHERE c.code_hash IS NOT NULL) AS is_called
) AS contract;
