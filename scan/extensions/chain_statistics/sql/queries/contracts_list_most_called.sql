-- The contracts that the newest transactions called most, counted over a range of blocks that has at most
-- `most` transactions. Calls of contracts by contracts are not counted.
-- params: block_from bigint, block_to bigint, most integer, by_gas boolean, sign integer, after numeric null,
--   after_address bytea null, limit integer
-- literals: none
-- returns: one row: index version, whether the range has more transactions (then none are listed), JSON array
--   of {address, transactions, gasUsed, rank} by transactions or by gas times `sign`, which is 1 or -1, the
--   largest first, then by address, after a row's rank and address
-- index: blocks_pkey, transactions_pkey, contracts_pkey
WITH bounds AS MATERIALIZED (
    SELECT o.first, o.last, o.last - o.first >= %(most)s AS is_longer
    FROM transaction_ordinals(%(block_from)s, %(block_to)s) AS o
), called AS MATERIALIZED (
    SELECT t.to_address AS address, count(*) AS transactions, sum(t.gas_used) AS gas_used
    FROM bounds o
    JOIN transactions t ON t.ordinal >= o.first AND t.ordinal <= o.last
    WHERE NOT o.is_longer AND t.to_address IS NOT NULL
    GROUP BY t.to_address
), ranked AS MATERIALIZED (
    SELECT c.address, c.transactions, c.gas_used,
        (%(sign)s * CASE WHEN %(by_gas)s THEN c.gas_used ELSE c.transactions END)::numeric AS rank
    FROM called c
    WHERE EXISTS (SELECT FROM contract_at(c.address))
), page AS MATERIALIZED (
    SELECT r.address, r.transactions, r.gas_used, r.rank
    FROM ranked r
    WHERE %(after)s IS NULL OR (r.rank, r.address) < (%(after)s, %(after_address)s)
    ORDER BY r.rank DESC, r.address DESC
    LIMIT %(limit)s
)
SELECT index_version(), coalesce((SELECT o.is_longer FROM bounds o), false), json_list((
    SELECT string_agg(json_build_object('address', hex(p.address), 'transactions', p.transactions,
        'gasUsed', p.gas_used, 'rank', p.rank)::text, ',' ORDER BY p.rank DESC, p.address DESC)
    FROM page p));
