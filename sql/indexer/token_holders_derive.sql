-- Moves the balances of holders by the transfers of blocks already written; sign -1 takes the same
-- back. The planner cannot know how many rows the newest blocks have: run it without nested loops.
-- params: first_transfer bigint, last_transfer bigint, sign integer
-- returns: token_address, how many more hold it now, how many more are below zero, how much more is held
-- index: token_transfers_pkey, token_holders_pkey
WITH moves AS (
    SELECT token_address, from_address AS holder, -value AS amount
    FROM token_transfers
    WHERE ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
    UNION ALL
    SELECT token_address, to_address, value
    FROM token_transfers
    WHERE ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
), deltas AS MATERIALIZED (
    SELECT token_address, holder, sum(amount) * %(sign)s AS amount
    FROM moves
    WHERE holder <> '\x0000000000000000000000000000000000000000'::bytea
    GROUP BY token_address, holder
    HAVING sum(amount) <> 0
), moved AS (
    INSERT INTO token_holders AS h (holder, token_address, balance)
    SELECT holder, token_address, amount
    FROM deltas
    ORDER BY holder, token_address -- so that each page of the primary key is visited once
    ON CONFLICT (holder, token_address) DO UPDATE SET balance = h.balance + EXCLUDED.balance
    RETURNING h.holder, h.token_address, h.balance
)
SELECT m.token_address,
    sum((m.balance > 0)::integer - (m.balance - d.amount > 0)::integer),
    sum((m.balance < 0)::integer - (m.balance - d.amount < 0)::integer),
    sum(greatest(m.balance, 0) - greatest(m.balance - d.amount, 0))
FROM moved m
JOIN deltas d USING (holder, token_address)
GROUP BY m.token_address;
