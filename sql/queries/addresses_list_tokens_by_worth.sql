-- The tokens an address holds by their worth at given unit prices: first those that are counted in the
-- total, then others by token address, last suspicious ones. A price has a depth, which no worth may exceed,
-- unless it is the operator's. A token is known if it has an operator's price or is in a token list; others
-- are suspicious whose symbol is `alike` that of a known one or of the coin, and, where the rows that tell are
-- kept and few enough, those that the address has neither sent in a transaction of its own nor traded. Where
-- events do not add up, the balance is what was read, and without that there is no worth.
-- params: address bytea, tokens bytea[], prices numeric[], depths numeric[], alike bytea[],
--   read_tokens bytea[], read_balances numeric[], is_whole boolean, most integer, most_rows integer, limit integer, offset bigint
-- literals: none
-- returns: one row: index version, data (JSON text; null: the address holds more than `most`), count in
--   data, total, JSON text of {total, counted, others, suspicious}
-- index: token_holders_pkey, tokens_pkey, tokens_by_skeleton, pools_pkey, listed_tokens_pkey,
--   token_transfers_by_from, transactions_pkey, blocks_pkey, dex_trades_by_maker, contracts_pkey
WITH held AS MATERIALIZED (
    SELECT h.token_address, h.balance
    FROM held_by(%(address)s, %(read_tokens)s::bytea[], %(read_balances)s::numeric[]) h
    LIMIT %(most)s + 1
), sent AS MATERIALIZED (
    SELECT x.token_address, x.block_number, x.transaction_index
    FROM token_transfers x
    WHERE x.from_address = %(address)s
    ORDER BY x.ordinal DESC
    LIMIT %(most_rows)s
), traded AS MATERIALIZED (
    SELECT d.token_in, d.token_out
    FROM dex_trades d
    WHERE d.maker = %(address)s
    ORDER BY d.ordinal DESC
    LIMIT %(most_rows)s
), used AS MATERIALIZED (
    SELECT s.token_address AS token
    FROM sent s
    JOIN blocks b ON b.number = s.block_number
    JOIN transactions t ON t.ordinal = b.transactions_before + s.transaction_index
    WHERE t.from_address = %(address)s
    UNION
    SELECT d.token_in FROM traded d
    UNION
    SELECT d.token_out FROM traded d
), judged AS MATERIALIZED (
    -- Others send the transactions of a contract, so that its transfers do not tell who wanted them.
    SELECT %(is_whole)s AND (SELECT count(*) FROM sent) < %(most_rows)s
        AND (SELECT count(*) FROM traded) < %(most_rows)s
        AND NOT EXISTS (
            SELECT FROM contract_at(%(address)s) AS c WHERE c.code_hash IS NOT NULL) AS by_use
), valued AS MATERIALIZED (
    SELECT h.token_address, h.balance,
        CASE WHEN (g.address IS NOT NULL AND g.depth IS NULL) OR l.address IS NOT NULL THEN NULL
            WHEN h.token_address IN (SELECT a.address FROM unnest(%(alike)s) AS a (address)) THEN 'imitation'
            WHEN judged.by_use AND h.token_address NOT IN (SELECT u.token FROM used u)
                THEN 'unsolicited' END AS suspicion,
        CASE WHEN k.type = 'BEP20' AND (k.inconsistent_since IS NULL OR k.address = ANY (%(read_tokens)s))
            THEN trim_scale(h.balance * g.price * ('1e-' || k.decimals)::numeric) END AS worth,
        g.depth
    FROM held h
    JOIN tokens k ON k.address = h.token_address
    CROSS JOIN judged
    LEFT JOIN unnest(%(tokens)s, %(prices)s, %(depths)s) AS g (address, price, depth) ON g.address = h.token_address
    LEFT JOIN listed_tokens l ON l.address = h.token_address
), ranked AS MATERIALIZED (
    SELECT v.token_address, v.balance, v.suspicion, w.worth,
        CASE WHEN v.suspicion IS NOT NULL THEN 2 WHEN w.worth IS NULL THEN 1 ELSE 0 END AS rank
    FROM valued v
    CROSS JOIN LATERAL (
        SELECT CASE WHEN v.depth IS NULL OR v.worth <= v.depth THEN v.worth END AS worth) AS w
), page AS (
    SELECT r.token_address, r.balance, r.suspicion, r.worth, r.rank
    FROM ranked r
    ORDER BY r.rank, CASE r.rank WHEN 0 THEN r.worth END DESC, r.token_address
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    CASE WHEN (SELECT count(*) FROM held) <= %(most)s THEN json_list((
        SELECT string_agg(left(token_balance_record(k, p.balance, (
                SELECT n.record FROM namesake_of(k) AS n))::text, -1)
            || format(',"worth":%%s,"suspicious":%%s}', json_text(p.worth::text), json_text(p.suspicion)),
            ',' ORDER BY p.rank, CASE p.rank WHEN 0 THEN p.worth END DESC, p.token_address)
        FROM page p
        JOIN tokens k ON k.address = p.token_address)) END,
    (SELECT count(*) FROM page),
    (SELECT count(*) FROM held),
    (
        SELECT json_build_object('total', coalesce(sum(r.worth) FILTER (WHERE r.rank = 0), 0)::text,
            'counted', count(*) FILTER (WHERE r.rank = 0),
            'others', count(*) FILTER (WHERE r.rank = 1),
            'suspicious', count(*) FILTER (WHERE r.rank = 2))::text
        FROM ranked r
    );
